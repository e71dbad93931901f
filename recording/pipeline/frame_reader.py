"""A thread that waits for the next picture of a screen."""

import queue
import threading
from collections.abc import Callable

from deskhand.recording.errors import FeedEnded
from deskhand.recording.ports import CapturedFrame, Feed

from .clocks import Clock

FEED_PATIENCE = 2.0
"""Seconds after which the thread looks whether it is still wanted."""


class FrameReader:
    """Waits for pictures in a thread of its own, one at a time, when they are wanted."""

    def __init__(self, feed: Feed, clock: Clock) -> None:
        self._feed = feed
        self._clock = clock
        self._not_before: queue.SimpleQueue[float] = queue.SimpleQueue()
        self._ended = threading.Event()
        self._hurried = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def alive(self) -> bool:
        """Whether the thread runs still."""
        return self._thread is not None and self._thread.is_alive()

    def open(self, saw: Callable[[CapturedFrame], None], lost: Callable[[], None]) -> None:
        """Begin to wait for ``want``."""
        self._thread = threading.Thread(
            target=self._run, args=(saw, lost), name="viewfinder", daemon=True
        )
        self._thread.start()

    def want(self, not_before: float) -> None:
        """Ask for the next picture, looked for at ``not_before`` at the earliest."""
        self._not_before.put(not_before)

    def hurry(self) -> None:
        """The next picture is wanted at once."""
        self._hurried.set()

    def close(self) -> None:
        """Look no longer; does not wait for the thread."""
        self._ended.set()
        self._hurried.set()
        self._not_before.put(0.0)
        self._feed.close()

    def join(self) -> None:
        """Wait for the thread."""
        if self._thread is not None:
            self._thread.join()

    def _run(self, saw: Callable[[CapturedFrame], None], lost: Callable[[], None]) -> None:
        try:
            while True:
                pause = self._not_before.get() - self._clock.now()
                self._hurried.wait(max(0.0, pause))
                if self._ended.is_set():
                    return
                self._hurried.clear()
                shot = None
                while shot is None and not self._ended.is_set():
                    shot = self._feed.take(FEED_PATIENCE)
                if shot is not None:
                    saw(shot)
                # Pictures are large: not one is kept while another is waited for.
                del shot
        except FeedEnded:
            lost()
