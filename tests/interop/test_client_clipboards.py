"""Clipboards of VNC viewers, which they share with the desktop that they control."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deskhand.desktop.x11.connection import connect as connect_x
from deskhand.desktop.x11.selection import Content, Selection
from tests.system.services import Service, until, x_display
from tests.system.test_desktop_clipboard import answering
from tests.system.test_forward import forwarding


@contextmanager
def own_display() -> Iterator[str]:
    """Start a display for a viewer."""
    reads, writes = os.pipe()
    command = ["Xvfb", "-displayfd", str(writes), "-screen", "0", "1280x1024x24"]
    with subprocess.Popen(command, pass_fds=(writes,), stderr=subprocess.DEVNULL) as process:
        os.close(writes)
        try:
            with os.fdopen(reads) as pipe:
                yield ":" + pipe.readline().strip()
        finally:
            process.terminate()


@contextmanager
def copied(display: str, authority: Path | None, text: str) -> Iterator[None]:
    """Own the clipboard of a display while the body runs."""
    connection = connect_x(display, authority or Path(os.devnull))
    try:
        selection = Selection(connection)
        selection.own(Content("text/plain", text.encode()))
        with answering(selection):
            yield
    finally:
        connection.disconnect()


def pasted(display: str, authority: Path | None = None) -> str:
    connection = connect_x(display, authority or Path(os.devnull))
    try:
        found = Selection(connection).read(("text/plain",))
    finally:
        connection.disconnect()
    return "" if found is None else found.data.decode()


@pytest.mark.interop_client(
    "TigerVNC",
    how="`deskhand forward vnc`, then `vncviewer 127.0.0.1:5901`",
    tested="texts in UTF-8 are copied both ways (Extended Clipboard)",
    version_of=("xtigervncviewer", "--version"),
)
@pytest.mark.slow("starts another display")
def test_tigervnc_shares_its_clipboard(desktop: Service) -> None:
    screen = x_display(desktop)
    with (
        forwarding(desktop, "vnc", "--port", "0", "--role", "control") as (_, ready),
        own_display() as display,
    ):
        viewer = ["xtigervncviewer", ready["listen"].replace(":", "::")]
        environment = {**os.environ, "DISPLAY": display}
        with subprocess.Popen(viewer, env=environment, stderr=subprocess.DEVNULL) as run:
            try:
                # It shares its clipboard while its window has the focus.
                focus = ["xdotool", "search", "--sync", "--name", "TigerVNC", "windowfocus"]
                subprocess.run(focus, env=environment, check=True, stdout=subprocess.DEVNULL)
                with copied(display, None, "from the viewer: ä世"):
                    until(lambda: pasted(*screen) == "from the viewer: ä世", "the viewer's text")
                with copied(*screen, "from the desktop: é界"):
                    until(lambda: pasted(display) == "from the desktop: é界", "the desktop's text")
            finally:
                run.terminate()
    # Its person had the desktop in private, and would have it for a while.
    assert desktop.http.delete("/api/v0/desktop/lease").is_success
