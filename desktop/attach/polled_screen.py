"""Screen without damage events: captured at an interval and compared.

mss reports no damage on any platform. While there is a subscription, a thread captures the screen
every 50 ms and publishes the differences as damage. Without one it captures nothing, except for
a caller that requests a frame.
"""

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
# Interval of the captures while there is a subscription; shorter changes are missed.
_PACE_SECONDS = 0.05
# Height and width of the drawn pointer.
_ARROW = (16, 10)


class ScreenSource(Protocol):
    """Source of pixels and of the pointer's position; used by one thread at a time."""

    @property
    def size(self) -> Size:
        """Size in pixels."""

    def grab(self) -> NDArray[np.uint8]:
        """Capture the pixels, ``(height, width, 4)`` in B, G, R, X.

        Raises:
            DisplayGone: If the screen is gone.
        """

    def pointer(self) -> Point:
        """Return the position of the pointer."""


class PolledScreen:
    """Frames and changes of a screen, captured only while a consumer waits for them.

    All methods may be called from any thread.
    """

    def __init__(self, source: ScreenSource, name: str) -> None:
        self._source = source
        self._name = name
        self._lock = threading.RLock()
        self._wanted = threading.Condition(self._lock)
        self._thread = threading.Thread(target=self._poll, name="screen", daemon=True)
        self._snapshots = Snapshots(source.size)
        self._history: deque[Damage] = deque()
        self._damage_subscriptions: set[DamageSubscription] = set()
        self._frame_subscriptions: set[FrameSubscription] = set()
        self._closing = False
        self._reported_pointer = Point(-1, -1)
        self._arrow = arrow()
        self._frame = Frame(self._snapshots.pixels, 0, time.monotonic())

    def __enter__(self) -> Self:
        self._snapshots.restore(self._source.grab())
        self._frame = Frame(self._snapshots.pixels, 0, time.monotonic())
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
        return self._source.size

    def close(self) -> None:
        """Stop the thread; subscriptions end as if the display were lost. Idempotent."""
        with self._wanted:
            self._closing = True
            self._lose()
            self._wanted.notify_all()
        if self._thread.ident is not None:
            self._thread.join()

    def frame(self) -> Frame:
        """Capture the screen; return the newest frame.

        Raises:
            DisplayGone: If the screen is gone.
        """
        with self._lock:
            if self._closing:
                raise DisplayGone(self._name, "closed")
            # Without damage events every band must be compared.
            everything = (whole(self.size),)
            changed = self._snapshots.update(self._source.grab(), everything)
            if changed:
                self._publish_change(changed)
            return self._frame

    def pointer(self) -> Pointer:
        """Return the position of the pointer; its image is unknown, so it is an arrow."""
        with self._lock:
            return Pointer(self._source.pointer(), Point(0, 0), self._arrow, 1)

    def watch(self) -> DamageSubscription:
        """Subscribe to changes from now on."""
        with self._wanted:
            subscription = DamageSubscription(
                tuple(self._history), self._name, self._forget_damage_subscription
            )
            self._damage_subscriptions.add(subscription)
            self._wanted.notify_all()
            return subscription

    def subscribe(self) -> FrameSubscription:
        """Subscribe to new frames, for a thread of the caller."""
        with self._wanted:
            subscription = FrameSubscription(
                self.frame, self.pointer, whole(self.size), self._forget_frame_subscription
            )
            self._frame_subscriptions.add(subscription)
            self._wanted.notify_all()
            return subscription

    def _publish_change(self, changed: tuple[Region, ...]) -> None:
        now = time.monotonic()
        counter = self._snapshots.counter
        changed_at = self._snapshots.changed_at
        self._frame = Frame(self._snapshots.pixels, counter, now, changed_at=changed_at)
        damage = Damage(now, changed)
        while self._history and self._history[0].time < now - _HISTORY_SECONDS:
            self._history.popleft()
        self._history.append(damage)
        for listener in self._damage_subscriptions:
            listener.put(damage)
        for subscription in self._frame_subscriptions:
            # Damage is found by comparing, so it is never unchecked.
            subscription.painted(damage)
            subscription.changed(counter, changed)

    def _poll(self) -> None:
        with self._wanted:
            while not self._closing:
                if not (self._damage_subscriptions or self._frame_subscriptions):
                    self._wanted.wait()
                    continue
                try:
                    self.frame()
                    self._compare_pointer()
                except DisplayGone:
                    self._lose()
                    # Without subscriptions the thread waits instead of capturing a lost screen.
                    self._damage_subscriptions.clear()
                    self._frame_subscriptions.clear()
                self._wanted.wait(_PACE_SECONDS)

    def _compare_pointer(self) -> None:
        position = self._source.pointer()
        if position != self._reported_pointer:
            self._reported_pointer = position
            for subscription in self._frame_subscriptions:
                subscription.moved()

    def _lose(self) -> None:
        for listener in tuple(self._damage_subscriptions):
            listener.lose()
        for subscription in tuple(self._frame_subscriptions):
            subscription.painted()

    def _forget_damage_subscription(self, subscription: DamageSubscription) -> None:
        with self._lock:
            self._damage_subscriptions.discard(subscription)

    def _forget_frame_subscription(self, subscription: FrameSubscription) -> None:
        with self._lock:
            self._frame_subscriptions.discard(subscription)


def arrow() -> NDArray[np.uint8]:
    """Draw an arrow to the upper left: white with a black border, B, G, R, A."""
    rows, columns = np.mgrid[: _ARROW[0], : _ARROW[1]]
    inside = columns <= rows * _ARROW[1] // _ARROW[0]
    border = inside & ((columns == 0) | (rows == _ARROW[0] - 1))
    border |= inside & (columns + 1 > (rows * _ARROW[1] // _ARROW[0]))
    image = np.zeros((*_ARROW, 4), np.uint8)
    image[inside] = 255
    image[border] = (0, 0, 0, 255)
    image.flags.writeable = False
    return image
