"""Hands what happens on the screen from the X thread to those who wait for it."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Self

from deskhand.desktop.errors import DisplayGone
from deskhand.desktop.geometry import Region

from .frames import Damage, Frame, Pointer
from .snapshots import merged

_MOST_CHANGES = 64


class DamageSubscription:
    """Damages since it was opened, for a coroutine, and those of the second before."""

    def __init__(
        self,
        recent: tuple[Damage, ...],
        display: str,
        forget: Callable[["DamageSubscription"], None],
    ) -> None:
        self._recent = recent
        self._display = display
        self._forget = forget
        self._lock = threading.Lock()
        self._arrived: deque[Damage] = deque()
        self._waiter: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None
        self._gone = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def recent(self) -> tuple[Damage, ...]:
        """What was painted in the second before this watch was opened."""
        return self._recent

    async def next(self, timeout: float) -> Damage | None:
        """The next damage that was not taken yet, or None after ``timeout`` seconds.

        Raises:
            DisplayGone: When the display is lost, after everything that came before was taken.
        """
        event = asyncio.Event()
        with self._lock:
            if self._arrived or self._gone:
                return self._take()
            self._waiter = (asyncio.get_running_loop(), event)
        try:
            async with asyncio.timeout(timeout):
                await event.wait()
        except TimeoutError:
            pass
        finally:
            with self._lock:
                self._waiter = None
        with self._lock:
            return self._take() if self._arrived or self._gone else None

    def put(self, damage: Damage) -> None:
        """Called by the X thread."""
        with self._lock:
            self._arrived.append(damage)
            self._wake()

    def lose(self) -> None:
        """Called by the X thread when there will be no more."""
        with self._lock:
            self._gone = True
            self._wake()

    def close(self) -> None:
        """Stop listening; twice is fine."""
        self._forget(self)

    def _take(self) -> Damage:
        if self._arrived:
            return self._arrived.popleft()
        raise DisplayGone(self._display)

    def _wake(self) -> None:
        if self._waiter is not None:
            loop, event = self._waiter
            self._waiter = None
            loop.call_soon_threadsafe(event.set)


class FrameSubscription:
    """Newest frames for one thread, which takes them as fast as it likes."""

    def __init__(
        self,
        frame: Callable[[], Frame],
        pointer: Callable[[], Pointer],
        whole: Region,
        forget: Callable[["FrameSubscription"], None],
    ) -> None:
        self._frame = frame
        self._pointer = pointer
        self._forget = forget
        self._condition = threading.Condition()
        self._painted = True
        self._changed: list[tuple[int, tuple[Region, ...]]] = [(0, (whole,))]
        self._moved = True
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def take(self, timeout: float) -> tuple[Frame, tuple[Region, ...], Pointer] | None:
        """Wait for changed pixels or a moved pointer, at most ``timeout`` seconds.

        Gives the newest frame, where it changed since the last take (nowhere when only the
        pointer moved) and the pointer; at once the first time. None after the timeout and when
        the feed is closed.

        Raises:
            DisplayGone: When the display is lost.
        """
        deadline = time.monotonic() + timeout
        while True:
            with self._condition:
                while not (self._painted or self._moved or self._closed):
                    left = deadline - time.monotonic()
                    if left <= 0:
                        return None
                    self._condition.wait(left)
                if self._closed:
                    return None
                self._painted = False
            frame = self._frame()
            pointer = self._pointer()
            with self._condition:
                changed, moved = self._until(frame.counter), self._moved
                self._moved = False
            if changed or moved:
                return frame, changed, pointer

    def painted(self) -> None:
        """Called when something was painted, whether or not it looks different."""
        with self._condition:
            self._painted = True
            self._condition.notify_all()

    def changed(self, counter: int, regions: tuple[Region, ...]) -> None:
        """Called when the frame of that counter was made."""
        with self._condition:
            if len(self._changed) >= _MOST_CHANGES:
                regions = merged([*(r for _, some in self._changed for r in some), *regions])
                self._changed.clear()
            self._changed.append((counter, regions))
            self._painted = True
            self._condition.notify_all()

    def moved(self) -> None:
        """Called when the pointer is elsewhere or looks different."""
        with self._condition:
            self._moved = True
            self._condition.notify_all()

    def close(self) -> None:
        """End a waiting take, and get no more; twice is fine."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()
        self._forget(self)

    def _until(self, counter: int) -> tuple[Region, ...]:
        # A frame that another thread made since ours was grabbed is for the next take.
        later = [change for change in self._changed if change[0] > counter]
        regions = merged([r for at, some in self._changed if at <= counter for r in some])
        self._changed = later
        self._painted = self._painted or bool(later)
        return regions
