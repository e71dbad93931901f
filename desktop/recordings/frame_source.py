"""Source of frames for the recorder: the screen, or a placeholder frame in privacy mode.

States of a stream: *visible* and *hidden*. In privacy mode the stream delivers one placeholder
frame and then waits until the mode is inactive. It then opens a new subscription, so that damage
from the private time is never delivered, and begins with a frame that names the duration. A frame
that was captured while the mode was switched on, even if it is off again, is discarded
(``PrivacyMode.activations`` has changed), and so are the times of its damage.
"""

import time
from math import inf
from typing import Protocol

from deskhand.desktop.capture.subscriptions import FrameSubscription
from deskhand.desktop.errors import DisplayGone, DisplayNotReady
from deskhand.desktop.geometry import Region, Size, whole
from deskhand.desktop.lease.privacy import PrivacyMode
from deskhand.desktop.screenshots.placeholder import placeholder_frame
from deskhand.desktop.screenshots.renderer import crop, pointer_region
from deskhand.recording.errors import FeedEnded
from deskhand.recording.ports import CapturedFrame, DamageReport, Overlay, RecentDamage


class SubscribableScreen(Protocol):
    """Screen with frame subscriptions."""

    @property
    def size(self) -> Size:
        """Native size."""

    def subscribe(self) -> FrameSubscription:
        """Subscribe to new frames.

        Raises:
            DisplayGone, DisplayNotReady: If there is no display.
        """


class FrameSource:
    """Screen that can be recorded."""

    def __init__(self, screen: SubscribableScreen, privacy: PrivacyMode | None = None) -> None:
        self._screen = screen
        self._privacy = privacy or PrivacyMode()

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self._screen.size

    def subscribe(self) -> "FrameStream":
        """Open a new stream.

        Raises:
            FeedEnded: If there is no display.
        """
        return FrameStream(self._screen, self._privacy)


class FrameStream:
    """Stream of frames for one recorder."""

    def __init__(self, screen: SubscribableScreen, privacy: PrivacyMode) -> None:
        self._screen = screen
        self._privacy = privacy
        self._hidden = False
        self._closed = False
        self._pointer_area: Region | None = None
        self._activations = privacy.activations
        self._subscription = self._subscribed()

    def next_frame(self, timeout: float) -> CapturedFrame | None:
        """Wait until the screen differs from the previous frame; return None after ``timeout``.

        In privacy mode the stream delivers a single placeholder frame.

        Raises:
            FeedEnded: If the display is gone.
        """
        if self._hidden:
            if not self._privacy.wait_inactive(timeout, lambda: self._closed):
                return None
            # What was painted meanwhile is forgotten with the old feed.
            self._pointer_area = None
            self._subscription.close()
            self._subscription = self._subscribed()
            # `close` may have run in another thread while the subscription was opened.
            if self._closed:
                self._subscription.close()
                return None
            self._hidden = False
            return self._placeholder(f"private, {self._privacy.last_seconds:.0f} s")
        # The counter is read before the capture: a change of the mode in between is detected below.
        count = self._privacy.activations
        captured = None if self._privacy.active else self._capture(timeout)
        if self._privacy.active or self._privacy.activations != count:
            self._hidden = True
            return self._placeholder("A person has this desktop in private.")
        return captured

    def damage(self, unchecked_before: float) -> RecentDamage:
        """Return the damage since the last call; none from privacy mode."""
        count, active = self._privacy.activations, self._private
        private = active or count != self._activations
        # The first call after the mode drops what was painted since the last call in it.
        self._activations = self._activations if active else count
        taken, held_back = self._subscription.damage(inf if private else unchecked_before)
        # The mode may have become active since it was read above.
        if private or self._private:
            return RecentDamage()
        reports = tuple(DamageReport(damage.time, damage.regions) for damage in taken)
        return RecentDamage(reports, held_back)

    def close(self) -> None:
        """End the stream."""
        self._closed = True
        self._subscription.close()
        # A reader that waits for the end of privacy mode must notice that the stream was closed.
        self._privacy.wake()

    @property
    def _private(self) -> bool:
        return self._hidden or self._privacy.active

    def _subscribed(self) -> FrameSubscription:
        self._opened = time.monotonic()
        try:
            return self._screen.subscribe()
        except (DisplayGone, DisplayNotReady) as error:
            raise FeedEnded from error

    def _capture(self, timeout: float) -> CapturedFrame | None:
        try:
            update = self._subscription.next(timeout)
        except DisplayGone as error:
            raise FeedEnded from error
        if update is None:
            return None
        frame, regions, pointer = update
        # The time of a frame is that of its last change. A frame from before the subscription, or
        # one on which only the pointer moved, counts as captured now.
        moment = max(frame.time, self._opened) if regions else time.monotonic()
        area = pointer_region(pointer, whole(self._screen.size))
        # Without the old area of the pointer nothing is known about the previous frame.
        changed = None if self._pointer_area is None else (*regions, self._pointer_area, area)
        self._pointer_area = area
        overlay = None if area.is_empty else Overlay(area, crop(frame.pixels, area, pointer))
        return CapturedFrame(frame.pixels, moment, regions, changed, overlay)

    def _placeholder(self, text: str) -> CapturedFrame:
        width, height = self._screen.size
        pixels = placeholder_frame(text, width, height)
        whole_screen = ((0, 0, width, height),)
        return CapturedFrame(pixels, time.monotonic(), whole_screen, placeholder=True)
