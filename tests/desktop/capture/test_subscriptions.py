import asyncio
import threading
from collections.abc import Callable
from math import inf

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
    """Screen with one frame subscription, as the framebuffer uses it."""

    def __init__(self) -> None:
        self.counter = 0
        self.gone = False
        self.forgotten: list[FrameSubscription] = []
        self.before_pointer: Callable[[], None] = lambda: None
        self.subscription = FrameSubscription(
            self.frame, self.pointer, WHOLE, self.forgotten.append
        )

    def frame(self) -> Frame:
        if self.gone:
            raise DisplayGone(":9")
        return Frame(np.zeros((9, 9, 4), np.uint8), self.counter, 0.0)

    def pointer(self) -> Pointer:
        self.before_pointer()
        return Pointer(Point(0, 0), Point(0, 0), np.zeros((1, 1, 4), np.uint8), 1)

    def change(self, *regions: Region) -> None:
        self.counter += 1
        self.subscription.changed(self.counter, regions)

    def next(self, timeout: float = 0.0) -> tuple[int, tuple[Region, ...]] | None:
        got = self.subscription.next(timeout)
        return None if got is None else (got[0].counter, got[1])


@pytest.fixture
def screen() -> Screen:
    made = Screen()
    made.next()
    return made


def subscription() -> DamageSubscription:
    return DamageSubscription((damage(1.0),), ":9", lambda _: None)


def test_a_damage_subscription_delivers_every_event_in_order() -> None:
    async def scenario() -> None:
        with subscription() as opened:
            opened.put(damage(2.0))
            opened.put(damage(3.0))
            assert opened.recent() == (damage(1.0),)
            assert [await opened.next(0) for _ in range(3)] == [damage(2.0), damage(3.0), None]

    asyncio.run(scenario())


def test_a_waiting_subscription_is_woken_from_another_thread() -> None:
    async def scenario() -> None:
        opened = subscription()
        waiting = asyncio.create_task(opened.next(LIMIT))
        await asyncio.sleep(0)
        thread = threading.Thread(target=opened.put, args=(damage(2.0),))
        thread.start()
        assert await waiting == damage(2.0)
        thread.join()

    asyncio.run(scenario())


def test_a_damage_subscription_ends_when_the_display_is_lost() -> None:
    async def scenario() -> None:
        opened = subscription()
        opened.put(damage(2.0))
        opened.lose()
        assert await opened.next(0) == damage(2.0)
        with pytest.raises(DisplayGone):
            await opened.next(0)
        waiting = subscription()
        task = asyncio.create_task(waiting.next(LIMIT))
        await asyncio.sleep(0)
        waiting.lose()
        with pytest.raises(DisplayGone):
            await task

    asyncio.run(scenario())


def test_the_first_call_returns_the_whole_screen() -> None:
    assert Screen().next() == (0, (WHOLE,))


def test_a_call_returns_the_changes_since_the_last_one(screen: Screen) -> None:
    screen.change(PART)
    screen.change(OTHER, PART)
    assert screen.next() == (2, (PART, OTHER))
    assert screen.next() is None


def test_a_repaint_of_the_same_pixels_is_no_frame(screen: Screen) -> None:
    screen.subscription.painted()
    assert screen.next() is None


def test_a_moved_pointer_is_a_frame_without_regions(screen: Screen) -> None:
    screen.subscription.moved()
    assert screen.next() == (0, ())


def test_a_frame_made_meanwhile_is_for_the_next_call(screen: Screen) -> None:
    def change_once() -> None:
        screen.before_pointer = lambda: None
        screen.change(OTHER)

    screen.change(PART)
    screen.before_pointer = change_once
    assert screen.next() == (1, (PART,))
    assert screen.next() == (2, (OTHER,))


def test_a_subscription_without_a_consumer_does_not_grow(screen: Screen) -> None:
    for number in range(1000):
        screen.change(Region(number, 0, number + 1, 1))
    assert screen.next() == (1000, (Region(0, 0, 1000, 1),))


def test_a_waiting_call_is_woken_by_a_change(screen: Screen) -> None:
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(screen.next(LIMIT)))
    thread.start()
    screen.change(PART)
    thread.join(LIMIT)
    assert results == [(1, (PART,))]


def test_closing_ends_a_waiting_call(screen: Screen) -> None:
    results: list[object] = []
    with screen.subscription:
        thread = threading.Thread(target=lambda: results.append(screen.next(LIMIT)))
        thread.start()
    thread.join(LIMIT)
    assert results == [None]
    assert screen.forgotten == [screen.subscription]


def test_a_frame_subscription_of_a_lost_display_raises(screen: Screen) -> None:
    screen.gone = True
    screen.subscription.painted()
    with pytest.raises(DisplayGone):
        screen.next()


def test_damage_is_reported_at_its_time_once_its_pixels_were_captured(screen: Screen) -> None:
    for at in (1.0, 1.03, 1.2):
        screen.subscription.painted(Damage(at, (PART,)))
    assert screen.subscription.damage(0.5) == ((), 1.0)
    screen.change(PART, OTHER)
    # Paints within a frame of the largest rate are one.
    reports = (Damage(1.0, (PART,)), Damage(1.2, (PART,)))
    assert screen.subscription.damage(0.5) == (reports, inf)
    assert screen.subscription.damage(0.5) == ((), inf)


def test_only_the_changed_part_of_damage_is_reported(screen: Screen) -> None:
    screen.subscription.painted(Damage(1.0, (WHOLE,)))
    screen.change(PART)
    assert screen.subscription.damage(0.5) == ((Damage(1.0, (PART,)),), inf)
    screen.subscription.painted(Damage(2.0, (OTHER,)))
    screen.subscription.painted(Damage(3.0, (WHOLE,)))
    screen.change(PART)
    assert screen.subscription.damage(0.5) == ((Damage(3.0, (PART,)),), inf)


def test_a_repaint_of_the_same_pixels_is_not_reported(screen: Screen) -> None:
    screen.subscription.painted(Damage(1.0, (PART,)))
    screen.subscription.unchanged()
    assert screen.subscription.damage(0.5) == ((), inf)


def test_damage_without_a_capture_is_reported_after_a_limit(screen: Screen) -> None:
    screen.subscription.painted(Damage(1.0, (PART,)))
    screen.subscription.painted(Damage(2.0, (PART,)))
    assert screen.subscription.damage(1.5) == ((Damage(1.0, (PART,)),), 2.0)


def test_reports_without_a_consumer_do_not_grow_for_ever(screen: Screen) -> None:
    for number in range(1500):
        screen.subscription.painted(Damage(float(number), (PART,)))
        if number % 2:
            screen.change(PART)
    assert len(screen.subscription.damage(inf)[0]) <= 1024
