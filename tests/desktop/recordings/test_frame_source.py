from collections.abc import Callable

import numpy as np
import pytest

from deskhand.desktop.capture.frames import Frame, Pointer
from deskhand.desktop.capture.subscriptions import FrameSubscription
from deskhand.desktop.errors import DisplayGone
from deskhand.desktop.geometry import Point, Region, Size
from deskhand.desktop.lease.privacy import PrivacyMode
from deskhand.desktop.recordings.frame_source import FrameSource
from deskhand.recording.errors import FeedEnded

SIZE = Size(64, 36)
MAGENTA = (255, 0, 255, 0)


class Screen:
    """A screen of one colour."""

    def __init__(self) -> None:
        self.size = SIZE
        self.colour: tuple[int, ...] = (0, 0, 0, 0)
        self.counter = 1
        self.gone = False
        self.feeds: list[FrameSubscription] = []
        self.looked: Callable[[], None] = lambda: None
        self.subscribing: Callable[[], None] = lambda: None

    def paint(self, colour: tuple[int, ...]) -> None:
        self.colour = colour
        self.counter += 1
        for feed in self.feeds:
            feed.changed(self.counter, (Region(0, 0, *SIZE),))

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
        self.looked()
        return Frame(pixels, self.counter, 0.0)


def pointer() -> Pointer:
    return Pointer(Point(0, 0), Point(0, 0), np.zeros((1, 1, 4), np.uint8), 0)


def shows(shot: object, colour: tuple[int, ...]) -> bool:
    pixels = shot.pixels  # type: ignore[attr-defined]
    return bool((pixels == np.array(colour, np.uint8)).all(axis=2).any())


def test_what_is_on_the_screen_is_taken() -> None:
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


def test_a_feed_that_is_closed_as_the_screen_is_shown_again_leaves_nothing_behind() -> None:
    screen, privacy = Screen(), PrivacyMode()
    feed = FrameSource(screen, privacy).subscribe()
    privacy.set(True)
    assert feed.next_frame(1.0) is not None
    privacy.set(False)
    screen.subscribing = feed.close
    assert feed.next_frame(1.0) is None
    assert screen.feeds == []


def test_the_pointer_lies_over_the_pixels_where_it_is_on_the_screen() -> None:
    screen = Screen()
    feed = FrameSource(screen).subscribe()
    screen.paint(MAGENTA)
    shot = feed.next_frame(1.0)
    assert shot is not None
    assert shot.overlay is not None
    assert shot.overlay.region == (0, 0, 1, 1)
    assert tuple(shot.overlay.pixels[0, 0]) == MAGENTA
    feed.close()


def test_nothing_private_is_taken_and_cards_stand_in_for_it() -> None:
    screen, privacy = Screen(), PrivacyMode(lambda: 0.0)
    feed = FrameSource(screen, privacy).subscribe()
    feed.next_frame(1.0)
    privacy.set(True)
    screen.paint(MAGENTA)
    card = feed.next_frame(1.0)
    assert card is not None
    assert not shows(card, MAGENTA)
    assert card.regions == ((0, 0, *SIZE),)
    assert feed.next_frame(0.0) is None
    screen.paint((9, 9, 9, 0))
    privacy.set(False)
    again = feed.next_frame(1.0)
    assert again is not None
    assert not np.array_equal(again.pixels, card.pixels)
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

    screen.looked = flicker
    assert not shows(feed.next_frame(1.0), MAGENTA)
    feed.close()


def test_a_display_that_is_gone_ends_the_feed() -> None:
    screen = Screen()
    feed = FrameSource(screen).subscribe()
    screen.gone = True
    with pytest.raises(FeedEnded):
        feed.next_frame(1.0)
    with pytest.raises(FeedEnded):
        FrameSource(screen).subscribe()


def test_shots_tell_where_they_differ_and_the_first_ones_that_it_may_be_anywhere() -> None:
    screen, privacy = Screen(), PrivacyMode()
    feed = FrameSource(screen, privacy).subscribe()

    def told() -> object:
        screen.paint(MAGENTA)
        shot = feed.next_frame(1.0)
        assert shot is not None
        return shot.changed

    assert told() is None
    assert told() == ((0, 0, *SIZE), (0, 0, 1, 1), (0, 0, 1, 1))
    privacy.set(True)
    assert told() is None
    privacy.set(False)
    assert told() is None
    assert told() is None
    assert told() is not None
    feed.close()
