"""How tests reach the display of a desktop beside foreign X servers."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deskhand.desktop.x11.connection import connect, screen_of
from tests.system.services import PATIENCE, Service, x_display

pytestmark = [
    pytest.mark.x11,
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root's desktops have a /tmp of their own"),
]

FOREIGN_WIDTH = 640


@contextmanager
def foreign_server(display: str) -> Iterator[None]:
    """Run an X server of the host at a number; nothing is started where there is one."""
    reading, writing = os.pipe()
    # The abstract name of each desktop's number is reserved, the file is not.
    options = ("-nolisten", "local", "-screen", "0", f"{FOREIGN_WIDTH}x480x24")
    command = ["Xvfb", display, *options, "-displayfd", str(writing)]
    with subprocess.Popen(command, pass_fds=(writing,), stderr=subprocess.DEVNULL) as server:
        os.close(writing)
        with os.fdopen(reading) as output:
            output.readline()
        try:
            yield
        finally:
            server.terminate()
            server.wait(PATIENCE)


def test_a_foreign_x_server_of_the_same_number_is_not_reached(desktop: Service) -> None:
    display = str(desktop.get("/api/v0/desktop")["display"])
    with foreign_server(display):
        # The control: by the number alone, a client of the host reaches the other server.
        name, cookie = x_display(desktop)
        assert width(display, cookie) != width(name, cookie) == 1920


def width(display: str, cookie: Path) -> int:
    connection = connect(display, cookie)
    try:
        return int(screen_of(connection).width_in_pixels)
    finally:
        connection.disconnect()
