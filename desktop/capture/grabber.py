"""Capture of rows of the screen: through MIT-SHM if the server supports it, else ``GetImage``."""

import os
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
    """Reads pixels on the caller's connection; its errors pass through."""

    def __init__(self, connection: Any, size: Size) -> None:
        self._connection = connection
        self._size = size
        self._root: int = screen_of(connection).root
        self._segment: Segment | None = None
        self._shared = 0
        self.pixels: NDArray[np.uint8] = np.zeros((size.height, size.width, 4), np.uint8)
        """Pixels as B, G, R, X; each row has the content of its last ``grab``."""

    @property
    def shares_memory(self) -> bool:
        """True if pixels arrive through shared memory instead of the socket."""
        return self._segment is not None

    def share_memory(self) -> None:
        """Attach a shared-memory segment if the server supports MIT-SHM."""
        if not has_extension(self._connection, b"MIT-SHM"):
            return
        segment = Segment(self._size.width * self._size.height * 4)
        try:
            is_shared = self._attach(segment)
        except xcffib.ConnectionException:
            segment.close()
            raise
        finally:
            # Marked for removal once both sides are attached, so that a crash leaves no segment.
            segment.forget()
        if not is_shared:
            segment.close()
            return
        self._segment = segment
        self.pixels = segment.array.reshape(self._size.height, self._size.width, 4)

    def _attach(self, segment: Segment) -> bool:
        """Let the server attach a segment; return whether it writes into this one.

        A server on another host or in another IPC namespace has none of its id, or a foreign one,
        into which the pixels would go (ipc_namespaces(7)). `GetImage` works there.
        """
        unlike = np.frombuffer(os.urandom(self._size.width * 4), np.uint8)
        segment.array[: unlike.size] = unlike
        extension = self._connection(xcffib.shm.key)
        self._shared = self._connection.generate_id()
        try:
            extension.Attach(self._shared, segment.identifier, False, is_checked=True).check()
            self._get_shared(0, 1)
        except xcffib.ConnectionException:
            raise
        except xcffib.XcffibException:
            return False
        return not np.array_equal(segment.array[: unlike.size], unlike)

    def grab(self, runs: Sequence[tuple[int, int]]) -> None:
        """Read runs of rows (top, bottom) into ``pixels``."""
        width = self._size.width
        for top, bottom in runs:
            if self._segment is not None:
                self._get_shared(top, bottom)
                continue
            area = (self._root, 0, top, width, bottom - top)
            reply = self._connection.core.GetImage(
                xcffib.xproto.ImageFormat.ZPixmap, *area, _ALL_PLANES
            ).reply()
            self.pixels[top:bottom] = pixels_of(reply.data.raw, width)

    def _get_shared(self, top: int, bottom: int) -> None:
        self._connection(xcffib.shm.key).GetImage(
            *(self._root, 0, top, self._size.width, bottom - top),
            _ALL_PLANES,
            xcffib.xproto.ImageFormat.ZPixmap,
            self._shared,
            # The offset places the rows where they are in a full frame.
            top * self._size.width * 4,
        ).reply()

    def close(self) -> None:
        """Release the segment; idempotent."""
        # The array refers to the segment's memory and must not outlive it.
        self.pixels = np.zeros((0, 0, 4), np.uint8)
        if self._segment is not None:
            self._segment.close()


def pixels_of(raw: bytes, width: int) -> NDArray[np.uint8]:
    """Return a copy of pixels from a reply, in ZPixmap format, as an array."""
    # A bytearray, because an array over `bytes` is read-only.
    return np.frombuffer(bytearray(raw), np.uint8).reshape(-1, width, 4)
