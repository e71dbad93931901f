"""Copying and pasting between the browser and programs whose clients are filtered."""

import pytest

from tests.system.services import Service, until
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


def focus(desktop: Service, title: str) -> None:
    windows = desktop.get("/api/v0/desktop/windows")["windows"]
    window = next(one["id"] for one in windows if one["title"] == title)
    desktop.post(f"/api/v0/desktop/windows/{window}/focus", {})
    until(lambda: keyboard_of(desktop) == title, f"the focus of {title}")


def test_gtk_and_the_browser_paste_what_the_other_one_copied(desktop: Service) -> None:
    with text_area(desktop) as area:
        browser = keyboard_of(desktop)
        TextView(desktop)
        desktop.act(action="type", text="by GTK: grüße")
        desktop.act(action="key", text="ctrl+a ctrl+c")
        until(lambda: copied(desktop) == "by GTK: grüße", "what GTK copied")
        focus(desktop, browser)
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

        def selected() -> bool:
            # The terminal may not have shown the word yet.
            desktop.act(action="triple_click", coordinate=FIRST_LINE)
            return copied(desktop).strip() == WORD

        until(selected, "what was selected in the terminal")
        focus(desktop, browser)
        desktop.act(action="key", text="ctrl+a ctrl+v")
        assert area.held().strip() == WORD
