"""A bare X display, and windows on it that paint and listen."""

import os
import select
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import xcffib.xproto

from deskhand.desktop.capture.framebuffer import Framebuffer
from deskhand.desktop.capture.frames import Frame
from deskhand.desktop.display.child_processes import ChildProcessSpawner
from deskhand.desktop.display.x_server import XServer
from deskhand.desktop.geometry import Region, Size
from deskhand.desktop.isolation.environment import built
from deskhand.desktop.x11.connection import connect

PATIENCE = 20.0 * float(os.environ.get("DESKHAND_TEST_SLOW", "1"))
"""One generous limit for everything that is waited for, in seconds."""

SIZE = Size(800, 600)


class Display(NamedTuple):
    """A running X server with what is needed to start programs on it."""

    server: XServer
    spawner: ChildProcessSpawner
    environment: dict[str, str]
    folder: Path


@contextmanager
def display(folder: Path, server: Callable[..., XServer] = XServer) -> Iterator[Display]:
    """Run an X server with nothing on it."""
    environment = built(folder, "tester", "test", inherited=os.environ)
    for name in ("home", "tmp"):
        (folder / name).mkdir(exist_ok=True)
    with ChildProcessSpawner() as spawner, server(folder, SIZE, environment, spawner) as running:
        environment |= {"DISPLAY": running.display, "XAUTHORITY": str(running.xauthority)}
        yield Display(running, spawner, environment, folder)


class Window:
    """A window without a frame that shows one colour and collects its events."""

    def __init__(self, server: XServer, place: Region, colour: int) -> None:
        self._connection: Any = connect(server.display, server.xauthority)
        self._core = self._connection.core
        screen = self._connection.get_setup().roots[0]
        self._window = self._connection.generate_id()
        masks = xcffib.xproto.CW
        events = xcffib.xproto.EventMask
        self._core.CreateWindow(
            screen.root_depth,
            self._window,
            screen.root,
            *(place.left, place.top, *place.size, 0),
            xcffib.xproto.WindowClass.InputOutput,
            screen.root_visual,
            masks.BackPixel | masks.OverrideRedirect | masks.EventMask,
            [colour, 1, events.ButtonPress | events.ButtonRelease | events.KeyPress],
        )
        self._core.MapWindow(self._window)
        self.sync()

    def __enter__(self) -> "Window":
        return self

    def __exit__(self, *_: object) -> None:
        # A server notices the end of a connection when it comes to that.
        self._core.DestroyWindow(self._window)
        self.sync()
        self._connection.disconnect()

    def paint(self, colour: int) -> None:
        """Fill with a colour, which may be the same."""
        self._core.ChangeWindowAttributes(self._window, xcffib.xproto.CW.BackPixel, [colour])
        self._core.ClearArea(False, self._window, 0, 0, 0, 0)
        self.sync()

    def sync(self) -> None:
        self._core.GetInputFocus().reply()

    def modifiers(self) -> int:
        """Keys and buttons that are down, as the server sees them."""
        mask: int = self._core.QueryPointer(self._connection.get_setup().roots[0].root).reply().mask
        return mask

    def event(self) -> Any:
        """Wait for the next event; ``MappingNotify``, which every client gets, is left out."""
        while isinstance(event := _next_event(self._connection), xcffib.xproto.MappingNotifyEvent):
            pass
        return event


@contextmanager
def mapping_window(server: XServer) -> Iterator[None]:
    """Wait at the end of the block until a window was mapped (MapNotify) since its begin.

    A program that reports it has started may have a window that the server has not mapped yet:
    what is typed would go nowhere.
    """
    connection: Any = connect(server.display, server.xauthority)
    root = connection.get_setup().roots[0].root
    mask, events = xcffib.xproto.CW.EventMask, xcffib.xproto.EventMask.SubstructureNotify
    connection.core.ChangeWindowAttributes(root, mask, [events])
    connection.core.GetInputFocus().reply()
    yield
    while not isinstance(_next_event(connection), xcffib.xproto.MapNotifyEvent):
        pass
    connection.disconnect()


def _next_event(connection: Any) -> Any:
    deadline = time.monotonic() + PATIENCE
    while (event := connection.poll_for_event()) is None:
        left = deadline - time.monotonic()
        assert left > 0, "no event in time"
        select.select([connection.get_file_descriptor()], [], [], left)
    return event


def colour_at(frame: Frame, x: int, y: int) -> int:
    """The pixel as 0xRRGGBB."""
    blue, green, red = frame.pixels[y, x, :3].tolist()
    return int(red) << 16 | int(green) << 8 | int(blue)


@contextmanager
def framebuffer(running: Display) -> Iterator[Framebuffer]:
    with Framebuffer(running.server.display, running.server.xauthority) as opened:
        yield opened
