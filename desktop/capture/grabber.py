"""Rows of a screen, copied into memory of ours: lent by the server where it can, else sent."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xcffib
import xcffib.shm
import xcffib.xproto
from numpy.typing import NDArray

from deskhand.desktop.geometry import Size
from deskhand.desktop.x11.connection import has_extension, screen_of
from deskhand.desktop.x11.shared_memory import Segment

_ALL_PLANES = 0xFFFFFFFF


class Grabber:
    """Reads pixels on a connection of the caller's, whose errors pass through."""

    def __init__(self, connection: Any, size: Size) -> None:
        self._connection = connection
        self._size = size
        self._root: int = screen_of(connection).root
        self._segment: Segment | None = None
        self._shared = 0
        self.pixels: NDArray[np.uint8] = np.zeros((size.height, size.width, 4), np.uint8)
        """B, G, R, X; rows are as they were when they were grabbed last."""

    @property
    def shares_memory(self) -> bool:
        """Whether the server lends its pixels; without that every grab is copied at length."""
        return self._segment is not None

    def share_memory(self) -> None:
        """Have the server lend its pixels if it can."""
        if not has_extension(self._connection, b"MIT-SHM"):
            return
        segment = Segment(self._size.width * self._size.height * 4)
        try:
            extension = self._connection(xcffib.shm.key)
            self._shared = self._connection.generate_id()
            extension.Attach(self._shared, segment.identifier, False, is_checked=True).check()
        except xcffib.ConnectionException:
            segment.forget()
            segment.close()
            raise
        except xcffib.XcffibException:
            segment.forget()
            segment.close()
            return
        segment.forget()
        self._segment = segment
        self.pixels = segment.array.reshape(self._size.height, self._size.width, 4)

    def grab(self, runs: Sequence[tuple[int, int]]) -> None:
        """Read runs of rows."""
        width = self._size.width
        for top, bottom in runs:
            area = (self._root, 0, top, width, bottom - top)
            if self._segment is None:
                reply = self._connection.core.GetImage(
                    xcffib.xproto.ImageFormat.ZPixmap, *area, _ALL_PLANES
                ).reply()
                self.pixels[top:bottom] = pixels_of(reply.data.raw, width)
            else:
                self._connection(xcffib.shm.key).GetImage(
                    *area,
                    _ALL_PLANES,
                    xcffib.xproto.ImageFormat.ZPixmap,
                    self._shared,
                    top * width * 4,
                ).reply()

    def close(self) -> None:
        """Give the memory back; twice is fine."""
        self.pixels = np.zeros((0, 0, 4), np.uint8)
        if self._segment is not None:
            self._segment.close()


def pixels_of(raw: bytes, width: int) -> NDArray[np.uint8]:
    """Pixels as the protocol sends them, in an array of their own."""
    return np.frombuffer(bytearray(raw), np.uint8).reshape(-1, width, 4)
