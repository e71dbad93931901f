"""A thread that waits for the next picture of a screen."""

import queue
import threading
from collections.abc import Callable

from deskhand.recording.errors import FeedEnded
from deskhand.recording.ports import CapturedFrame, Feed

from .clocks import Clock

FEED_TIMEOUT = 2.0
"""Seconds after which the thread looks whether it is still wanted."""


class FrameReader:
    """Waits for pictures in a thread of its own, one at a time, when they are wanted."""

    def __init__(self, feed: Feed, clock: Clock) -> None:
        self._feed = feed
        self._clock = clock
        self._not_before: queue.SimpleQueue[float] = queue.SimpleQueue()
        self._ended = threading.Event()
        self._pause_skipped = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def alive(self) -> bool:
        """Whether the thread runs still."""
        return self._thread is not None and self._thread.is_alive()

    def open(self, on_frame: Callable[[CapturedFrame], None], on_ended: Callable[[], None]) -> None:
        """Begin to wait for ``request_frame``."""
        self._thread = threading.Thread(
            target=self._run, args=(on_frame, on_ended), name="viewfinder", daemon=True
        )
        self._thread.start()

    def request_frame(self, not_before: float) -> None:
        """Ask for the next picture, looked for at ``not_before`` at the earliest."""
        self._not_before.put(not_before)

    def skip_pause(self) -> None:
        """The next picture is wanted at once."""
        self._pause_skipped.set()

    def close(self) -> None:
        """Look no longer; does not wait for the thread."""
        self._ended.set()
        self._pause_skipped.set()
        self._not_before.put(0.0)
        self._feed.close()

    def join(self) -> None:
        """Wait for the thread."""
        if self._thread is not None:
            self._thread.join()

    def _run(self, on_frame: Callable[[CapturedFrame], None], on_ended: Callable[[], None]) -> None:
        try:
            while True:
                pause = self._not_before.get() - self._clock.now()
                self._pause_skipped.wait(max(0.0, pause))
                if self._ended.is_set():
                    return
                self._pause_skipped.clear()
                frame = None
                while frame is None and not self._ended.is_set():
                    frame = self._feed.next_frame(FEED_TIMEOUT)
                if frame is not None:
                    on_frame(frame)
                # Pictures are large: not one is kept while another is waited for.
                del frame
        except FeedEnded:
            on_ended()
