"""Subscriptions: damage and frames from the X thread to the consumers that wait for them.

``DamageSubscription`` delivers every damage event in order, to a coroutine. ``FrameSubscription``
delivers only the newest frame, to a thread: a slow consumer skips frames, and the regions that
changed in between are accumulated. The times of the damage are kept apart from the frames, so that
a consumer that captures late still knows when the screen changed.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from math import inf
from types import TracebackType
from typing import Self

from deskhand.desktop.errors import DisplayGone
from deskhand.desktop.geometry import Region

from .frames import Damage, Frame, Pointer
from .snapshots import merged

# A subscription without a consumer keeps at most this many entries; then they become one region.
_MOST_CHANGES = 64
# Damage within this time is one report, as it would be one frame at the largest frame rate.
_REPORT_SECONDS = 1 / 15
# A consumer that does not ask for reports keeps at most a minute of them.
_MOST_REPORTS = 1024


class DamageSubscription:
    """Damage events since the subscription was opened, for a coroutine.

    The events of the second before are available as ``recent``.
    """

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
        """Return the damage of the second before the subscription was opened."""
        return self._recent

    async def next(self, timeout: float) -> Damage | None:
        """Wait for the next damage event; return None after ``timeout`` seconds.

        Raises:
            DisplayGone: When the display is lost, after all events before that were returned.
        """
        event = asyncio.Event()
        with self._lock:
            if self._arrived or self._gone:
                return self._next_arrived()
            # At most one waiter: the subscription belongs to one coroutine.
            self._waiter = (asyncio.get_running_loop(), event)
        try:
            async with asyncio.timeout(timeout):
                await event.wait()
        except TimeoutError:
            pass
        finally:
            with self._lock:
                self._waiter = None
        # The event may have arrived between the timeout and this point.
        with self._lock:
            return self._next_arrived() if self._arrived or self._gone else None

    def put(self, damage: Damage) -> None:
        """Queue an event; the X thread calls this."""
        with self._lock:
            self._arrived.append(damage)
            self._wake()

    def lose(self) -> None:
        """End the subscription because the display is lost; the X thread calls this."""
        with self._lock:
            self._gone = True
            self._wake()

    def close(self) -> None:
        """End the subscription; idempotent."""
        self._forget(self)

    def _next_arrived(self) -> Damage:
        if self._arrived:
            return self._arrived.popleft()
        raise DisplayGone(self._display)

    def _wake(self) -> None:
        # asyncio.Event is not thread-safe, so only the waiter's event loop may set it.
        if self._waiter is not None:
            loop, event = self._waiter
            self._waiter = None
            loop.call_soon_threadsafe(event.set)


class FrameSubscription:
    """Newest frames for one thread, at the speed of that thread."""

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
        self._checked: list[Damage] = []
        self._unchecked: list[Damage] = []
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

    def next(self, timeout: float) -> tuple[Frame, tuple[Region, ...], Pointer] | None:
        """Wait for changed pixels or a moved pointer, at most ``timeout`` seconds.

        Return the newest frame, the regions that changed since the last call (none if only the
        pointer moved) and the pointer. The first call returns at once. Return None after the
        timeout and when the subscription is closed.

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
            # Without the lock: a capture takes milliseconds, and the X thread must not wait for it.
            frame = self._frame()
            pointer = self._pointer()
            with self._condition:
                changed, moved = self._changes_until(frame.counter), self._moved
                self._moved = False
            if changed or moved:
                return frame, changed, pointer

    def damage(self, unchecked_before: float) -> tuple[tuple[Damage, ...], float]:
        """Return the damage since the last call, without pixels that did not change.

        Damage is held back until a capture shows which of its pixels differ, but at most until
        ``unchecked_before`` is later than its time. The second result is the time of the oldest
        that is held back, or ``inf``. Does not wait for a capture.
        """
        with self._condition:
            overdue = sum(damage.time < unchecked_before for damage in self._unchecked)
            taken = (*self._checked, *self._unchecked[:overdue])
            self._checked.clear()
            del self._unchecked[:overdue]
            return taken, self._unchecked[0].time if self._unchecked else inf

    def painted(self, damage: Damage | None = None) -> None:
        """Wake the consumer after damage; the pixels need not differ."""
        with self._condition:
            if damage is not None:
                self._add_unchecked(damage)
            self._painted = True
            self._condition.notify_all()

    def unchanged(self) -> None:
        """Forget the damage before a capture that found the same pixels."""
        with self._condition:
            self._unchecked.clear()

    def changed(self, counter: int, regions: tuple[Region, ...]) -> None:
        """Add the changed regions of the frame with ``counter`` and wake the consumer."""
        with self._condition:
            self._check(regions)
            if len(self._changed) >= _MOST_CHANGES:
                regions = merged([*(r for _, some in self._changed for r in some), *regions])
                self._changed.clear()
            self._changed.append((counter, regions))
            self._painted = True
            self._condition.notify_all()

    def moved(self) -> None:
        """Wake the consumer because the pointer has another position or image."""
        with self._condition:
            self._moved = True
            self._condition.notify_all()

    def close(self) -> None:
        """End the subscription and a call that waits; idempotent."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()
        self._forget(self)

    def _add_unchecked(self, damage: Damage) -> None:
        last = self._unchecked[-1] if self._unchecked else None
        full = len(self._checked) + len(self._unchecked) >= _MOST_REPORTS
        if last is not None and (full or damage.time < last.time + _REPORT_SECONDS):
            self._unchecked[-1] = Damage(last.time, merged((*last.regions, *damage.regions)))
        else:
            self._unchecked.append(damage)

    def _check(self, changed: tuple[Region, ...]) -> None:
        """Keep the parts of the reports whose pixels differ."""
        unchecked, self._unchecked = self._unchecked, []
        if len(unchecked) == 1:
            # The usual case: the frame was captured in time and has the damage of one report.
            unchecked = [Damage(unchecked[0].time, changed)]
        for damage in unchecked[: _MOST_REPORTS - len(self._checked)]:
            parts = (part.intersection(region) for part in damage.regions for region in changed)
            regions = merged([part for part in parts if not part.is_empty])
            if regions:
                self._checked.append(Damage(damage.time, regions))

    def _changes_until(self, counter: int) -> tuple[Region, ...]:
        # Changes of a frame that another thread captured after ours belong to the next call.
        later = [change for change in self._changed if change[0] > counter]
        regions = merged([r for at, some in self._changed if at <= counter for r in some])
        self._changed = later
        self._painted = self._painted or bool(later)
        return regions
