"""The screen as the recorder takes it: frames with the pointer drawn."""

import time

from recording.errors import FeedEnded
from recording.shots import Shot

from .errors import DisplayGone
from .framebuffer import Framebuffer
from .pictures import with_pointer
from .watching import Feed


class Footage:
    """A screen that can be recorded."""

    def __init__(self, framebuffer: Framebuffer) -> None:
        self._framebuffer = framebuffer

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self._framebuffer.size

    def subscribe(self) -> "FootageFeed":
        """Open a feed of its own."""
        return FootageFeed(self._framebuffer.subscribe())


class FootageFeed:
    """One taker's stream of shots."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._opened = time.monotonic()

    def take(self, timeout: float) -> Shot | None:
        """Block until the picture differs from the last one taken; None after ``timeout``.

        Raises:
            FeedEnded: If the display is gone.
        """
        try:
            taken = self._feed.take(timeout)
        except DisplayGone as error:
            raise FeedEnded from error
        if taken is None:
            return None
        frame, regions, pointer = taken
        # A frame is as old as its last change: one that was there before us is of this moment,
        # and so is one on which only the pointer moved.
        moment = max(frame.time, self._opened) if regions else time.monotonic()
        return Shot(with_pointer(frame.pixels, pointer), moment, regions)

    def close(self) -> None:
        """End the feed."""
        self._feed.close()
