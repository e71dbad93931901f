from collections.abc import Callable
from math import inf

import numpy as np
import pytest

from deskhand.desktop.capture.frames import Damage, Frame, Pointer
from deskhand.desktop.capture.subscriptions import FrameSubscription
from deskhand.desktop.errors import DisplayGone
from deskhand.desktop.geometry import Point, Region, Size
from deskhand.desktop.lease.privacy import PrivacyMode
from deskhand.desktop.recordings.frame_source import FrameSource
from deskhand.recording.errors import FeedEnded

SIZE = Size(64, 36)
MAGENTA = (255, 0, 255, 0)


class Screen:
    """Screen of one colour."""

    def __init__(self) -> None:
        self.size = SIZE
        self.colour: tuple[int, ...] = (0, 0, 0, 0)
        self.counter = 1
        self.gone = False
        self.feeds: list[FrameSubscription] = []
        self.grabbed: Callable[[], None] = lambda: None
        self.subscribing: Callable[[], None] = lambda: None

    def paint(self, colour: tuple[int, ...]) -> None:
        self.colour = colour
        self.counter += 1
        for feed in self.feeds:
            feed.changed(self.counter, (Region(0, 0, *SIZE),))

    def damage(self, at: float) -> None:
        for feed in self.feeds:
            feed.painted(Damage(at, (Region(0, 0, *SIZE),)))

    def subscribe(self) -> FrameSubscription:
        if self.gone:
            raise DisplayGone(":9")
        self.subscribing()
        feed = FrameSubscription(self.frame, pointer, Region(0, 0, *SIZE), self.forget)
        self.feeds.append(feed)
        return feed

    def forget(self, feed: FrameSubscription) -> None:
        self.feeds = [one for one in self.feeds if one is not feed]

    def frame(self) -> Frame:
        if self.gone:
            raise DisplayGone(":9")
        pixels = np.full((SIZE.height, SIZE.width, 4), self.colour, np.uint8)
        self.grabbed()
        return Frame(pixels, self.counter, 0.0)


def pointer() -> Pointer:
    return Pointer(Point(0, 0), Point(0, 0), np.zeros((1, 1, 4), np.uint8), 0)


def shows(frame: object, colour: tuple[int, ...]) -> bool:
    pixels = frame.pixels  # type: ignore[attr-defined]
    return bool((pixels == np.array(colour, np.uint8)).all(axis=2).any())


def test_a_stream_delivers_the_screen_and_its_changes() -> None:
    screen = Screen()
    feed = FrameSource(screen).subscribe()
    first = feed.next_frame(1.0)
    assert first is not None
    assert shows(first, (0, 0, 0, 0))
    assert feed.next_frame(0.0) is None
    screen.paint(MAGENTA)
    assert shows(feed.next_frame(1.0), MAGENTA)
    feed.close()
    assert screen.feeds == []


def test_a_stream_closed_at_the_end_of_privacy_mode_leaves_no_subscription() -> None:
    screen, privacy = Screen(), PrivacyMode()
    feed = FrameSource(screen, privacy).subscribe()
    privacy.set(True)
    assert feed.next_frame(1.0) is not None
    privacy.set(False)
    screen.subscribing = feed.close
    assert feed.next_frame(1.0) is None
    assert screen.feeds == []


def test_the_pointer_is_an_overlay_at_its_position() -> None:
    screen = Screen()
    feed = FrameSource(screen).subscribe()
    screen.paint(MAGENTA)
    frame = feed.next_frame(1.0)
    assert frame is not None
    assert frame.overlay is not None
    assert frame.overlay.region == (0, 0, 1, 1)
    assert tuple(frame.overlay.pixels[0, 0]) == MAGENTA
    feed.close()


def test_privacy_mode_delivers_placeholder_frames() -> None:
    screen, privacy = Screen(), PrivacyMode(lambda: 0.0)
    feed = FrameSource(screen, privacy).subscribe()
    feed.next_frame(1.0)
    privacy.set(True)
    screen.paint(MAGENTA)
    placeholder = feed.next_frame(1.0)
    assert placeholder is not None
    assert placeholder.placeholder
    assert not shows(placeholder, MAGENTA)
    assert placeholder.regions == ((0, 0, *SIZE),)
    assert feed.next_frame(0.0) is None
    screen.paint((9, 9, 9, 0))
    privacy.set(False)
    again = feed.next_frame(1.0)
    assert again is not None
    assert not np.array_equal(again.pixels, placeholder.pixels)
    assert shows(feed.next_frame(1.0), (9, 9, 9, 0))
    feed.close()


def test_a_frame_grabbed_while_privacy_mode_was_active_is_not_used() -> None:
    screen, privacy = Screen(), PrivacyMode()
    feed = FrameSource(screen, privacy).subscribe()
    feed.next_frame(1.0)
    screen.paint(MAGENTA)

    def flicker() -> None:
        privacy.set(True)
        privacy.set(False)

    screen.grabbed = flicker
    assert not shows(feed.next_frame(1.0), MAGENTA)
    feed.close()


def test_a_display_that_is_gone_ends_the_stream() -> None:
    screen = Screen()
    feed = FrameSource(screen).subscribe()
    screen.gone = True
    with pytest.raises(FeedEnded):
        feed.next_frame(1.0)
    with pytest.raises(FeedEnded):
        FrameSource(screen).subscribe()


def test_frames_have_their_changed_regions_and_the_first_ones_have_none() -> None:
    screen, privacy = Screen(), PrivacyMode()
    feed = FrameSource(screen, privacy).subscribe()

    def changed() -> object:
        screen.paint(MAGENTA)
        frame = feed.next_frame(1.0)
        assert frame is not None
        return frame.changed

    assert changed() is None
    assert changed() == ((0, 0, *SIZE), (0, 0, 1, 1), (0, 0, 1, 1))
    privacy.set(True)
    assert changed() is None
    privacy.set(False)
    assert changed() is None
    assert changed() is None
    assert changed() is not None
    feed.close()


def test_damage_is_reported_before_its_frame_is_read() -> None:
    screen = Screen()
    feed = FrameSource(screen).subscribe()
    screen.damage(1.0)
    assert feed.damage(0.5) == ((), 1.0)
    screen.paint(MAGENTA)
    assert feed.damage(0.5) == (((1.0, (Region(0, 0, *SIZE),)),), inf)


def test_no_damage_of_privacy_mode_is_reported() -> None:
    screen, privacy = Screen(), PrivacyMode()
    feed = FrameSource(screen, privacy).subscribe()
    privacy.set(True)
    screen.damage(1.0)
    assert feed.damage(0.5) == ((), inf)
    screen.damage(2.0)
    privacy.set(False)
    assert feed.damage(0.5) == ((), inf)
    screen.damage(3.0)
    assert feed.damage(0.5) == ((), 3.0)
    privacy.set(True)
    privacy.set(False)
    assert feed.damage(0.5) == ((), inf)
