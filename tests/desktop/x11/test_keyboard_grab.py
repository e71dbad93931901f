"""Grabs of a real X server's keyboard."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest
import xcffib
import xcffib.xproto

from deskhand.desktop.errors import DisplayGone
from deskhand.desktop.x11.connection import Connection, connect, screen_of
from deskhand.desktop.x11.keyboard_grab import KeyboardGrab
from tests.system.services import until

pytestmark = pytest.mark.x11
SYNC, ASYNC = xcffib.xproto.GrabMode.Sync, xcffib.xproto.GrabMode.Async


class Place(NamedTuple):
    """Name and cookie file of a display."""

    display: str
    xauthority: Path


@contextmanager
def server(folder: Path) -> Iterator[tuple[Place, subprocess.Popen[bytes]]]:
    cookie = folder / "cookie"
    cookie.write_bytes(b"")
    command = ["Xvfb", "-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            yield Place(f":{int(process.stdout.readline())}", cookie), process
        finally:
            process.terminate()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with server(tmp_path) as (found, _):
        yield found


@pytest.fixture
def client(place: Place) -> Iterator[Connection]:
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


@pytest.fixture
def check(place: Place) -> Iterator[KeyboardGrab]:
    with KeyboardGrab(*place) as found:
        yield found


def test_without_a_grab_the_focus_is_not_touched(check: KeyboardGrab, client: Connection) -> None:
    assert check.read() == "none"
    client.core.GetInputFocus().reply()
    assert client.poll_for_event() is None


def test_a_grab_of_the_keyboard_is_seen_until_it_ends(
    check: KeyboardGrab, client: Connection
) -> None:
    root = screen_of(client).root
    assert client.core.GrabKeyboard(False, root, 0, ASYNC, ASYNC).reply().status == 0
    assert check.read() == "grabbed"
    client.disconnect()
    until(lambda: check.read() == "none", "the end of the grab")


@pytest.mark.parametrize(("keyboard", "found"), [(SYNC, "grabbed"), (ASYNC, "none")])
def test_a_grab_of_the_pointer_counts_if_it_freezes_the_keyboard(
    check: KeyboardGrab, client: Connection, keyboard: int, found: str
) -> None:
    root = screen_of(client).root
    grab = client.core.GrabPointer(False, root, 0, ASYNC, keyboard, 0, 0, 0)
    assert grab.reply().status == 0
    assert check.read() == found


def test_only_a_thorough_check_sees_a_frozen_keyboard_and_takes_the_focus(
    check: KeyboardGrab, client: Connection
) -> None:
    root = screen_of(client).root
    grab = client.core.GrabPointer(False, root, 0, ASYNC, SYNC, 0, 0, 0)
    assert grab.reply().status == 0
    assert check.read(thorough=False) == "none"


def test_during_a_grab_of_the_server_nobody_can_tell(
    check: KeyboardGrab, client: Connection
) -> None:
    client.core.GrabServer(is_checked=True).check()
    assert check.read() == "unknown"
    assert check.read() == "unknown"
    client.core.UngrabServer(is_checked=True).check()
    until(lambda: check.read() == "none", "the end of the grab")


def test_the_check_has_a_connection_when_a_client_has_taken_all(
    check: KeyboardGrab, client: Connection, place: Place
) -> None:
    taken: list[Connection] = []
    with suppress(DisplayGone):
        while True:
            taken.append(connect(*place))
    assert check.read() == "none"
    root = screen_of(client).root
    assert client.core.GrabKeyboard(False, root, 0, ASYNC, ASYNC).reply().status == 0
    assert check.read() == "grabbed"
    for one in taken:
        one.disconnect()


def test_a_check_of_a_grabbed_server_can_be_closed(place: Place, client: Connection) -> None:
    with KeyboardGrab(*place) as check:
        client.core.GrabServer(is_checked=True).check()
        assert check.read() == "unknown"
    assert check.read() == "unknown"


def test_without_its_server_nobody_can_tell(tmp_path: Path) -> None:
    with server(tmp_path) as (place, process), KeyboardGrab(*place) as check:
        assert check.read() == "none"
        process.kill()
        process.wait()
        assert check.read() == "unknown"
