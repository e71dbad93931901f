"""A screen that does not tell when it is painted: looked at again and again, and compared."""

import threading
import time
from collections import deque
from types import TracebackType
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from deskhand.desktop.capture.frames import Damage, Frame, Pointer
from deskhand.desktop.capture.snapshots import Snapshots
from deskhand.desktop.capture.subscriptions import DamageSubscription, FrameSubscription
from deskhand.desktop.errors import DisplayGone
from deskhand.desktop.geometry import Point, Region, Size, whole

_HISTORY_SECONDS = 1.0
# While somebody waits for a change; what passes in less is not seen, and costs no CPU.
_PACE_SECONDS = 0.05
_ARROW = (16, 10)


class ScreenSource(Protocol):
    """What takes pictures of the screen. Called by one thread at a time."""

    @property
    def size(self) -> Size:
        """In pixels."""

    def grab(self) -> NDArray[np.uint8]:
        """The pixels now, ``(height, width, 4)`` in B, G, R, X.

        Raises:
            DisplayGone: If there is no screen any more.
        """

    def pointer(self) -> Point:
        """Where the pointer is."""


class PolledScreen:
    """Frames and changes of a screen; nothing is looked at while nobody waits.

    All methods may be called from any thread.
    """

    def __init__(self, camera: ScreenSource, name: str) -> None:
        self._camera = camera
        self._name = name
        self._lock = threading.RLock()
        self._wanted = threading.Condition(self._lock)
        self._thread = threading.Thread(target=self._look, name="screen", daemon=True)
        self._snapshots = Snapshots(camera.size)
        self._history: deque[Damage] = deque()
        self._watches: set[DamageSubscription] = set()
        self._feeds: set[FrameSubscription] = set()
        self._closing = False
        self._shown = Point(-1, -1)
        self._arrow = arrow()
        self._frame = Frame(self._snapshots.pixels, 0, time.monotonic())

    def __enter__(self) -> Self:
        self.frame()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def size(self) -> Size:
        """Native size."""
        return self._camera.size

    def close(self) -> None:
        """Look no more; watches and feeds end as if the display were lost. Twice is fine."""
        with self._wanted:
            self._closing = True
            self._lose()
            self._wanted.notify_all()
        if self._thread.ident is not None:
            self._thread.join()

    def frame(self) -> Frame:
        """The newest pixels.

        Raises:
            DisplayGone: If there is no screen any more.
        """
        with self._lock:
            if self._closing:
                raise DisplayGone(self._name, "closed")
            everything = (whole(self.size),)
            changed = self._snapshots.update(self._camera.grab(), everything)
            if changed:
                self._take(changed)
            return self._frame

    def pointer(self) -> Pointer:
        """Where the pointer is; how it looks is not known, so it is drawn as an arrow."""
        with self._lock:
            return Pointer(self._camera.pointer(), Point(0, 0), self._arrow, 1)

    def watch(self) -> DamageSubscription:
        """Listen to changes from now on."""
        with self._wanted:
            watch = DamageSubscription(tuple(self._history), self._name, self._forget_watch)
            self._watches.add(watch)
            self._wanted.notify_all()
            return watch

    def subscribe(self) -> FrameSubscription:
        """Get new frames, in a thread of the caller's."""
        with self._wanted:
            feed = FrameSubscription(self.frame, self.pointer, whole(self.size), self._forget_feed)
            self._feeds.add(feed)
            self._wanted.notify_all()
            return feed

    def _take(self, changed: tuple[Region, ...]) -> None:
        now = time.monotonic()
        counter = self._snapshots.counter
        seen_at = self._snapshots.changed_at
        self._frame = Frame(self._snapshots.pixels, counter, now, changed_at=seen_at)
        damage = Damage(now, changed)
        while self._history and self._history[0].time < now - _HISTORY_SECONDS:
            self._history.popleft()
        self._history.append(damage)
        for watch in self._watches:
            watch.put(damage)
        for feed in self._feeds:
            feed.changed(counter, changed)

    def _look(self) -> None:
        with self._wanted:
            while not self._closing:
                if not (self._watches or self._feeds):
                    self._wanted.wait()
                    continue
                try:
                    self.frame()
                    self._compare_pointer()
                except DisplayGone:
                    self._lose()
                    self._watches.clear()
                    self._feeds.clear()
                self._wanted.wait(_PACE_SECONDS)

    def _compare_pointer(self) -> None:
        position = self._camera.pointer()
        if position != self._shown:
            self._shown = position
            for feed in self._feeds:
                feed.moved()

    def _lose(self) -> None:
        for watch in tuple(self._watches):
            watch.lose()
        for feed in tuple(self._feeds):
            feed.painted()

    def _forget_watch(self, watch: DamageSubscription) -> None:
        with self._lock:
            self._watches.discard(watch)

    def _forget_feed(self, feed: FrameSubscription) -> None:
        with self._lock:
            self._feeds.discard(feed)


def arrow() -> NDArray[np.uint8]:
    """An arrow to the upper left: white with a black border, B, G, R, A."""
    rows, columns = np.mgrid[: _ARROW[0], : _ARROW[1]]
    inside = columns <= rows * _ARROW[1] // _ARROW[0]
    border = inside & ((columns == 0) | (rows == _ARROW[0] - 1))
    border |= inside & (columns + 1 > (rows * _ARROW[1] // _ARROW[0]))
    image = np.zeros((*_ARROW, 4), np.uint8)
    image[inside] = 255
    image[border] = (0, 0, 0, 255)
    image.flags.writeable = False
    return image
