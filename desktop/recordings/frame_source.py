"""The screen as the recorder takes it: under the pointer, and a card where it is private."""

import time
from typing import Protocol

from deskhand.desktop.capture.subscriptions import FrameSubscription
from deskhand.desktop.errors import DisplayGone, DisplayNotReady
from deskhand.desktop.geometry import Region, Size, whole
from deskhand.desktop.lease.privacy import PrivacyMode
from deskhand.desktop.screenshots.placeholder import card
from deskhand.desktop.screenshots.renderer import covered, cut
from deskhand.recording.errors import FeedEnded
from deskhand.recording.ports import CapturedFrame, Overlay


class SubscribableScreen(Protocol):
    """What gives frames to those who take them one by one."""

    @property
    def size(self) -> Size:
        """Native size."""

    def subscribe(self) -> FrameSubscription:
        """Get new frames.

        Raises:
            DisplayGone, DisplayNotReady: If there is no display.
        """


class FrameSource:
    """A screen that can be recorded."""

    def __init__(self, screen: SubscribableScreen, privacy: PrivacyMode | None = None) -> None:
        self._screen = screen
        self._privacy = privacy or PrivacyMode()

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self._screen.size

    def subscribe(self) -> "FrameStream":
        """Open a feed of its own.

        Raises:
            FeedEnded: If there is no display.
        """
        return FrameStream(self._screen, self._privacy)


class FrameStream:
    """One taker's stream of shots."""

    def __init__(self, screen: SubscribableScreen, privacy: PrivacyMode) -> None:
        self._screen = screen
        self._privacy = privacy
        self._hidden = False
        self._closed = False
        self._pointed: Region | None = None
        self._feed = self._subscribed()

    def next_frame(self, timeout: float) -> CapturedFrame | None:
        """Block until the picture differs from the last one taken; None after ``timeout``.

        While the screen is private there is one picture: a card that says so.

        Raises:
            FeedEnded: If the display is gone.
        """
        if self._hidden:
            if not self._privacy.wait_inactive(timeout, lambda: self._closed):
                return None
            # What was painted meanwhile is forgotten with the old feed.
            self._pointed = None
            self._feed.close()
            self._feed = self._subscribed()
            if self._closed:
                self._feed.close()
                return None
            self._hidden = False
            return self._card(f"private, {self._privacy.last_seconds:.0f} s")
        count = self._privacy.activations
        shot = None if self._privacy.active else self._shot(timeout)
        if self._privacy.active or self._privacy.activations != count:
            self._hidden = True
            return self._card("A person has this desktop in private.")
        return shot

    def close(self) -> None:
        """End the feed."""
        self._closed = True
        self._feed.close()
        self._privacy.wake()

    def _subscribed(self) -> FrameSubscription:
        self._opened = time.monotonic()
        try:
            return self._screen.subscribe()
        except (DisplayGone, DisplayNotReady) as error:
            raise FeedEnded from error

    def _shot(self, timeout: float) -> CapturedFrame | None:
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
        place = covered(pointer, whole(self._screen.size))
        changed = None if self._pointed is None else (*regions, self._pointed, place)
        self._pointed = place
        overlay = None if place.is_empty else Overlay(place, cut(frame.pixels, place, pointer))
        return CapturedFrame(frame.pixels, moment, regions, changed, overlay)

    def _card(self, text: str) -> CapturedFrame:
        width, height = self._screen.size
        return CapturedFrame(card(text, width, height), time.monotonic(), ((0, 0, width, height),))
