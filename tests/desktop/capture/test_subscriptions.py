import asyncio
import threading
from collections.abc import Callable

import numpy as np
import pytest

from deskhand.desktop.capture.frames import Damage, Frame, Pointer
from deskhand.desktop.capture.subscriptions import DamageSubscription, FrameSubscription
from deskhand.desktop.errors import DisplayGone
from deskhand.desktop.geometry import Point, Region

LIMIT = 20.0
WHOLE = Region(0, 0, 9, 9)
PART, OTHER = Region(1, 1, 2, 2), Region(3, 3, 4, 4)


def damage(time: float) -> Damage:
    return Damage(time, (PART,))


class Screen:
    """Frames as the framebuffer makes them, and a feed of them."""

    def __init__(self) -> None:
        self.counter = 0
        self.gone = False
        self.forgotten: list[FrameSubscription] = []
        self.before_pointer: Callable[[], None] = lambda: None
        self.feed = FrameSubscription(self.frame, self.pointer, WHOLE, self.forgotten.append)

    def frame(self) -> Frame:
        if self.gone:
            raise DisplayGone(":9")
        return Frame(np.zeros((9, 9, 4), np.uint8), self.counter, 0.0)

    def pointer(self) -> Pointer:
        self.before_pointer()
        return Pointer(Point(0, 0), Point(0, 0), np.zeros((1, 1, 4), np.uint8), 1)

    def change(self, *regions: Region) -> None:
        self.counter += 1
        self.feed.changed(self.counter, regions)

    def taken(self, timeout: float = 0.0) -> tuple[int, tuple[Region, ...]] | None:
        got = self.feed.take(timeout)
        return None if got is None else (got[0].counter, got[1])


@pytest.fixture
def screen() -> Screen:
    made = Screen()
    made.taken()
    return made


def watch() -> DamageSubscription:
    return DamageSubscription((damage(1.0),), ":9", lambda _: None)


def test_a_watch_gives_every_damage_in_order() -> None:
    async def scenario() -> None:
        with watch() as opened:
            opened.put(damage(2.0))
            opened.put(damage(3.0))
            assert opened.recent() == (damage(1.0),)
            assert [await opened.next(0) for _ in range(3)] == [damage(2.0), damage(3.0), None]

    asyncio.run(scenario())


def test_a_waiting_watch_is_woken_from_another_thread() -> None:
    async def scenario() -> None:
        opened = watch()
        waiting = asyncio.create_task(opened.next(LIMIT))
        await asyncio.sleep(0)
        thread = threading.Thread(target=opened.put, args=(damage(2.0),))
        thread.start()
        assert await waiting == damage(2.0)
        thread.join()

    asyncio.run(scenario())


def test_a_watch_ends_when_the_display_is_lost() -> None:
    async def scenario() -> None:
        opened = watch()
        opened.put(damage(2.0))
        opened.lose()
        assert await opened.next(0) == damage(2.0)
        with pytest.raises(DisplayGone):
            await opened.next(0)
        waiting = watch()
        task = asyncio.create_task(waiting.next(LIMIT))
        await asyncio.sleep(0)
        waiting.lose()
        with pytest.raises(DisplayGone):
            await task

    asyncio.run(scenario())


def test_the_first_take_is_the_whole_screen() -> None:
    assert Screen().taken() == (0, (WHOLE,))


def test_a_take_names_what_changed_since_the_last(screen: Screen) -> None:
    screen.change(PART)
    screen.change(OTHER, PART)
    assert screen.taken() == (2, (PART, OTHER))
    assert screen.taken() is None


def test_a_repaint_of_the_same_pixels_is_no_frame(screen: Screen) -> None:
    screen.feed.painted()
    assert screen.taken() is None


def test_a_moved_pointer_is_a_frame_without_regions(screen: Screen) -> None:
    screen.feed.moved()
    assert screen.taken() == (0, ())


def test_a_frame_made_meanwhile_is_for_the_next_take(screen: Screen) -> None:
    def change_once() -> None:
        screen.before_pointer = lambda: None
        screen.change(OTHER)

    screen.change(PART)
    screen.before_pointer = change_once
    assert screen.taken() == (1, (PART,))
    assert screen.taken() == (2, (OTHER,))


def test_a_feed_that_nobody_takes_does_not_grow(screen: Screen) -> None:
    for number in range(1000):
        screen.change(Region(number, 0, number + 1, 1))
    assert screen.taken() == (1000, (Region(0, 0, 1000, 1),))


def test_a_waiting_take_is_woken_by_a_change(screen: Screen) -> None:
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(screen.taken(LIMIT)))
    thread.start()
    screen.change(PART)
    thread.join(LIMIT)
    assert results == [(1, (PART,))]


def test_closing_ends_a_waiting_take(screen: Screen) -> None:
    results: list[object] = []
    with screen.feed:
        thread = threading.Thread(target=lambda: results.append(screen.taken(LIMIT)))
        thread.start()
    thread.join(LIMIT)
    assert results == [None]
    assert screen.forgotten == [screen.feed]


def test_a_feed_of_a_lost_display_says_so(screen: Screen) -> None:
    screen.gone = True
    screen.feed.painted()
    with pytest.raises(DisplayGone):
        screen.taken()
