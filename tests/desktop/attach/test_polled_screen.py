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


class FakeCamera:
    """A screen that is painted and lost as told."""

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
    camera = FakeCamera()
    with PolledScreen(camera, ":1") as screen:
        first = screen.frame()
        assert screen.frame() is first
        camera.pixels[5, 5] = 255
        second = screen.frame()
        assert second.counter == first.counter + 1
        assert second.pixels[5, 5, 0] == 255
        assert screen.pointer().position == Point(1, 2)
        assert screen.size == SIZE


def test_nothing_is_looked_at_while_nobody_waits() -> None:
    camera = FakeCamera()
    with PolledScreen(camera, ":1") as screen:
        looked = camera.grabs
        camera.grabbed.clear()
        assert not camera.grabbed.wait(0.2)
        assert camera.grabs == looked
        with screen.watch():
            assert camera.grabbed.wait(LIMIT)


def test_a_watch_is_told_where_the_screen_changed() -> None:
    async def scenario() -> None:
        camera = FakeCamera()
        with PolledScreen(camera, ":1") as screen, screen.watch() as watch:
            camera.pixels[30, 5] = 255
            damage = await watch.next(LIMIT)
            assert damage is not None
            assert any(region.covers(Region(5, 30, 6, 31)) for region in damage.regions)
            with screen.watch() as later:
                assert later.recent() == (damage,)

    asyncio.run(scenario())


def test_a_feed_gives_changes_and_moves_of_the_pointer() -> None:
    camera = FakeCamera()
    with PolledScreen(camera, ":1") as screen, screen.subscribe() as feed:
        assert feed.take(LIMIT) is not None
        camera.pixels[0, 0] = 9
        taken = feed.take(LIMIT)
        while taken is not None and not taken[1]:
            taken = feed.take(LIMIT)
        assert taken is not None
        assert taken[0].pixels[0, 0, 0] == 9
        camera.at = Point(7, 7)
        taken = feed.take(LIMIT)
        assert taken is not None
        assert taken[2].position == Point(7, 7)


def test_a_lost_screen_ends_what_waits_for_it() -> None:
    async def scenario() -> None:
        camera = FakeCamera()
        with PolledScreen(camera, ":1") as screen, screen.watch() as watch:
            feed = screen.subscribe()
            camera.lost = True
            with pytest.raises(DisplayGone):
                await watch.next(LIMIT)
            with pytest.raises(DisplayGone):
                feed.take(LIMIT)
        with pytest.raises(DisplayGone, match="closed"):
            screen.frame()
        screen.close()

    asyncio.run(scenario())


def test_the_arrow_points_to_its_upper_left_corner() -> None:
    image = arrow()
    assert image[0, 0, 3] == 255
    assert image[0, -1, 3] == 0
    assert not image.flags.writeable
