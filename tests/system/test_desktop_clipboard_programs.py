"""Copying and pasting between the browser and programs that are untrusted clients of the display.

An untrusted client can hand what it copied to other untrusted ones only, so the service adopts it.
"""

from typing import Any

import pytest

from deskhand.desktop.errors import ClipboardFailed
from deskhand.desktop.x11.connection import connect
from deskhand.desktop.x11.selection import Content, Selection
from tests.system.services import Service, until, x_display
from tests.system.test_desktop_clipboard import answering
from tests.system.typing_targets import TextView, keyboard_of, text_area

pytestmark = pytest.mark.x11

CLIPBOARD = "/api/v0/desktop/clipboard"
WORD = "copied-in-the-terminal"
XTERM = (
    "exec xterm -geometry 30x4+0+0 -fa 'DejaVu Sans Mono' -fs 24 "
    f"-e sh -c 'echo {WORD}; exec sleep 1000'"
)
FIRST_LINE = [60, 33]
"""A point of the terminal's first line, in model pixels."""


def copied(desktop: Service) -> str:
    return str(desktop.http.get(CLIPBOARD).text)


def pasted(connection: Any) -> bytes:
    """Paste as another client; empty if the one that copied cannot hand it over."""
    try:
        found = Selection(connection).read(("text/plain",))
    except ClipboardFailed:
        return b""
    return b"" if found is None else found.data


def closed(desktop: Service, title: str) -> None:
    desktop.act(action="key", text="alt+F4")
    until(lambda: keyboard_of(desktop) != title, f"the end of {title}")


def test_gtk_and_the_browser_paste_what_the_other_one_copied(desktop: Service) -> None:
    with text_area(desktop) as area:
        browser = keyboard_of(desktop)
        TextView(desktop)
        desktop.act(action="type", text="by GTK: grüße")
        desktop.act(action="key", text="ctrl+a ctrl+c")
        until(lambda: copied(desktop) == "by GTK: grüße", "what GTK copied")
        # The service adopts it before it answers once more, so it outlives its program.
        assert copied(desktop) == "by GTK: grüße"
        closed(desktop, "gtk view")
        until(lambda: keyboard_of(desktop) == browser, "the focus of the browser")
        desktop.act(action="key", text="ctrl+a ctrl+v")
        assert area.held() == "by GTK: grüße"
        desktop.act(action="type", text="by the browser")
        desktop.act(action="key", text="ctrl+a ctrl+c")
        until(lambda: copied(desktop) == "by the browser", "what the browser copied")
        view = TextView(desktop)
        desktop.act(action="key", text="ctrl+v")
        # GTK asks for the text when it takes the key, and inserts it later.
        until(lambda: view.held() == "by the browser", "what GTK pasted")


def test_the_browser_pastes_what_was_selected_in_a_terminal(desktop: Service) -> None:
    with text_area(desktop) as area:
        browser = keyboard_of(desktop)
        desktop.post("/api/v0/processes/start", {"command": XTERM})
        until(lambda: keyboard_of(desktop) not in ("", browser), "the focus of the terminal")
        terminal = keyboard_of(desktop)

        def selected() -> bool:
            # The terminal may not have shown the word yet.
            desktop.act(action="triple_click", coordinate=FIRST_LINE)
            return copied(desktop).strip() == WORD

        until(selected, "what was selected in the terminal")
        closed(desktop, terminal)
        until(lambda: keyboard_of(desktop) == browser, "the focus of the browser")
        desktop.act(action="key", text="ctrl+a ctrl+v")
        assert area.held().strip() == WORD


def test_what_was_copied_last_is_pasted(desktop: Service) -> None:
    display, trusted = x_display(desktop)
    untrusted = trusted.parents[1] / "display" / "Xauthority"
    connections = [connect(display, untrusted), connect(display, untrusted)]
    reading = connect(display, trusted)
    try:
        first, second = map(Selection, connections)
        first.own(Content("text/plain", b"first"))
        second.own(Content("text/plain", b"second"))
        with answering(first), answering(second):
            until(lambda: copied(desktop) == "second", "what was copied last")
            # A trusted client gets it too, once the service owns it.
            until(lambda: pasted(reading) == b"second", "what was copied last, for a trusted one")
    finally:
        for connection in (*connections, reading):
            connection.disconnect()
