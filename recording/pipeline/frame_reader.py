"""Thread that waits for the next frame of a screen.

The reader delivers one frame for each ``request_frame``, so at most one frame waits for the
recorder: a slow encoder lowers the frame rate instead of filling the memory.
"""

import queue
import threading
from collections.abc import Callable

from deskhand.recording.errors import FeedEnded
from deskhand.recording.ports import CapturedFrame, Feed, RecentDamage

from .clocks import Clock

FEED_TIMEOUT = 2.0
"""Seconds after which the thread checks whether it was closed."""


class FrameReader:
    """Reads a feed in its own thread, one frame for each request."""

    def __init__(self, feed: Feed, clock: Clock) -> None:
        self._feed = feed
        self._clock = clock
        self._not_before: queue.SimpleQueue[float] = queue.SimpleQueue()
        self._ended = threading.Event()
        self._pause_skipped = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def alive(self) -> bool:
        """True while the thread runs."""
        return self._thread is not None and self._thread.is_alive()

    def open(self, on_frame: Callable[[CapturedFrame], None], on_ended: Callable[[], None]) -> None:
        """Start the thread; it calls ``on_frame`` for each frame and ``on_ended`` for the end."""
        self._thread = threading.Thread(
            target=self._run, args=(on_frame, on_ended), name="frame-reader", daemon=True
        )
        self._thread.start()

    def request_frame(self, not_before: float) -> None:
        """Request the next frame, captured at ``not_before`` at the earliest."""
        self._not_before.put(not_before)

    def damage(self, unchecked_before: float) -> RecentDamage:
        """Return the damage since the last call (see ``Feed.damage``); does not wait."""
        return self._feed.damage(unchecked_before)

    def skip_pause(self) -> None:
        """Read the next requested frame at once, before its ``not_before``."""
        self._pause_skipped.set()

    def close(self) -> None:
        """End the thread without waiting for it (see ``join``)."""
        self._ended.set()
        self._pause_skipped.set()
        self._not_before.put(0.0)
        self._feed.close()

    def join(self) -> None:
        """Wait until the thread has ended."""
        if self._thread is not None:
            self._thread.join()

    def _run(self, on_frame: Callable[[CapturedFrame], None], on_ended: Callable[[], None]) -> None:
        try:
            while True:
                pause = self._not_before.get() - self._clock.now()
                self._pause_skipped.wait(max(0.0, pause))
                if self._ended.is_set():
                    return
                # The flag is cleared before the read: a request to skip that arrives later counts
                # again.
                self._pause_skipped.clear()
                frame = None
                while frame is None and not self._ended.is_set():
                    frame = self._feed.next_frame(FEED_TIMEOUT)
                if frame is not None:
                    on_frame(frame)
                # A frame has 8 MB; the reference must not survive until the next one arrives.
                del frame
        except FeedEnded:
            on_ended()
