"""Grabs of a real X server's keyboard."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import xcffib
import xcffib.xproto

from deskhand.desktop.x11.connection import Connection, connect, screen_of
from deskhand.desktop.x11.keyboard_grab import KeyboardGrab
from tests.system.services import until

pytestmark = pytest.mark.x11
SYNC, ASYNC = xcffib.xproto.GrabMode.Sync, xcffib.xproto.GrabMode.Async


@pytest.fixture
def place(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Name and cookie file of a display."""
    cookie = tmp_path / "cookie"
    cookie.write_bytes(b"")
    command = ["Xvfb", "-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        try:
            assert server.stdout is not None
            yield f":{int(server.stdout.readline())}", cookie
        finally:
            server.terminate()


@pytest.fixture
def client(place: tuple[str, Path]) -> Iterator[Connection]:
    """A client with a focused window, which receives the events of its focus."""
    connection = connect(*place)
    window = connection.generate_id()
    screen = screen_of(connection)
    core, kind = connection.core, xcffib.xproto.WindowClass.InputOutput
    mask = xcffib.xproto.EventMask.FocusChange
    core.CreateWindow(
        *(screen.root_depth, window, screen.root, 0, 0, 9, 9, 0, kind, screen.root_visual),
        *(xcffib.xproto.CW.EventMask, [mask]),
    )
    core.MapWindow(window, is_checked=True).check()
    core.SetInputFocus(xcffib.xproto.InputFocus.PointerRoot, window, 0, is_checked=True).check()
    assert connection.wait_for_event() is not None
    yield connection
    connection.disconnect()


def test_without_a_grab_the_focus_is_not_touched(
    place: tuple[str, Path], client: Connection
) -> None:
    assert KeyboardGrab(lambda: place).held() is False
    client.core.GetInputFocus().reply()
    assert client.poll_for_event() is None


def test_a_grab_of_the_keyboard_is_seen_until_it_ends(
    place: tuple[str, Path], client: Connection
) -> None:
    root = screen_of(client).root
    assert client.core.GrabKeyboard(False, root, 0, ASYNC, ASYNC).reply().status == 0
    assert KeyboardGrab(lambda: place).held() is True
    client.disconnect()
    until(lambda: not KeyboardGrab(lambda: place).held(), "the end of the grab")


@pytest.mark.parametrize(("keyboard", "held"), [(SYNC, True), (ASYNC, False)])
def test_a_grab_of_the_pointer_counts_if_it_freezes_the_keyboard(
    place: tuple[str, Path], client: Connection, keyboard: int, held: bool
) -> None:
    root = screen_of(client).root
    grab = client.core.GrabPointer(False, root, 0, ASYNC, keyboard, 0, 0, 0)
    assert grab.reply().status == 0
    assert KeyboardGrab(lambda: place).held() is held


def test_without_a_display_there_is_no_grab(tmp_path: Path) -> None:
    assert KeyboardGrab(lambda: (":4094", tmp_path / "none")).held() is False
