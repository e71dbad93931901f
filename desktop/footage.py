"""The screen as the recorder takes it: frames with the pointer drawn."""

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
        return Shot(with_pointer(frame.pixels, pointer), frame.time, regions)

    def close(self) -> None:
        """End the feed."""
        self._feed.close()
