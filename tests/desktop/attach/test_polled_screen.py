import asyncio
import threading

import numpy as np
import pytest
from numpy.typing import NDArray

from deskhand.desktop.attach.polled_screen import PolledScreen, arrow
from deskhand.desktop.errors import DisplayGone
from deskhand.desktop.geometry import Point, Region, Size

LIMIT = 20.0
SIZE = Size(64, 48)


class FakeScreenSource:
    """Screen that a test paints and removes."""

    size = SIZE

    def __init__(self) -> None:
        self.pixels = np.zeros((SIZE.height, SIZE.width, 4), np.uint8)
        self.at = Point(1, 2)
        self.lost = False
        self.grabs = 0
        self.grabbed = threading.Event()

    def grab(self) -> NDArray[np.uint8]:
        if self.lost:
            raise DisplayGone("fake")
        self.grabs += 1
        self.grabbed.set()
        return self.pixels.copy()

    def pointer(self) -> Point:
        return self.at


def test_a_frame_is_new_only_when_its_pixels_are() -> None:
    source = FakeScreenSource()
    with PolledScreen(source, ":1") as screen:
        first = screen.frame()
        assert screen.frame() is first
        source.pixels[5, 5] = 255
        second = screen.frame()
        assert second.counter == first.counter + 1
        assert second.pixels[5, 5, 0] == 255
        assert screen.pointer().position == Point(1, 2)
        assert screen.size == SIZE


def test_without_subscriptions_nothing_is_captured() -> None:
    source = FakeScreenSource()
    with PolledScreen(source, ":1") as screen:
        grabs = source.grabs
        source.grabbed.clear()
        assert not source.grabbed.wait(0.2)
        assert source.grabs == grabs
        with screen.watch():
            assert source.grabbed.wait(LIMIT)


def test_a_damage_subscription_receives_the_changed_regions() -> None:
    async def scenario() -> None:
        source = FakeScreenSource()
        with PolledScreen(source, ":1") as screen, screen.watch() as watch:
            source.pixels[30, 5] = 255
            damage = await watch.next(LIMIT)
            assert damage is not None
            assert any(region.covers(Region(5, 30, 6, 31)) for region in damage.regions)
            with screen.watch() as later:
                assert later.recent() == (damage,)

    asyncio.run(scenario())


def test_a_frame_subscription_delivers_changes_and_pointer_moves() -> None:
    source = FakeScreenSource()
    with PolledScreen(source, ":1") as screen, screen.subscribe() as feed:
        assert feed.next(LIMIT) is not None
        source.pixels[0, 0] = 9
        taken = feed.next(LIMIT)
        while taken is not None and not taken[1]:
            taken = feed.next(LIMIT)
        assert taken is not None
        assert taken[0].pixels[0, 0, 0] == 9
        source.at = Point(7, 7)
        taken = feed.next(LIMIT)
        assert taken is not None
        assert taken[2].position == Point(7, 7)


def test_a_lost_screen_ends_its_subscriptions() -> None:
    async def scenario() -> None:
        source = FakeScreenSource()
        with PolledScreen(source, ":1") as screen, screen.watch() as watch:
            feed = screen.subscribe()
            source.lost = True
            with pytest.raises(DisplayGone):
                await watch.next(LIMIT)
            with pytest.raises(DisplayGone):
                feed.next(LIMIT)
        with pytest.raises(DisplayGone, match="closed"):
            screen.frame()
        screen.close()

    asyncio.run(scenario())


def test_the_arrow_points_to_its_upper_left_corner() -> None:
    image = arrow()
    assert image[0, 0, 3] == 255
    assert image[0, -1, 3] == 0
    assert not image.flags.writeable
