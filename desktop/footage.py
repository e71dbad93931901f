"""The screen as the recorder takes it: frames with the pointer drawn."""

import time
from typing import Protocol

from recording.errors import FeedEnded
from recording.shots import Shot

from .errors import DisplayGone, DisplayNotReady
from .geometry import Size
from .pictures import with_pointer
from .watching import Feed


class Screen(Protocol):
    """What gives frames to those who take them one by one."""

    @property
    def size(self) -> Size:
        """Native size."""

    def subscribe(self) -> Feed:
        """Get new frames.

        Raises:
            DisplayGone, DisplayNotReady: If there is no display.
        """


class Footage:
    """A screen that can be recorded."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self._screen.size

    def subscribe(self) -> "FootageFeed":
        """Open a feed of its own.

        Raises:
            FeedEnded: If there is no display.
        """
        try:
            return FootageFeed(self._screen.subscribe())
        except (DisplayGone, DisplayNotReady) as error:
            raise FeedEnded from error


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
