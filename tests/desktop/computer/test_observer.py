import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import pytest

from deskhand.desktop.actions.requests import Observe
from deskhand.desktop.capture.frames import Damage, Frame
from deskhand.desktop.capture.settle import SettleRule
from deskhand.desktop.computer.observer import Observer, Stages
from deskhand.desktop.computer.outcomes import Observation
from deskhand.desktop.errors import DisplayGone
from deskhand.desktop.geometry import Point, Region, Size
from deskhand.desktop.screenshots.options import PictureOptions, View
from deskhand.desktop.windows.focused import Focused
from tests.desktop.fakes import FakeClock, FakePictures, FakeScreen, FakeWatch, pointer

SPOT = Region(100, 100, 110, 120)
VIEW = View(Size(1280, 720), None, PictureOptions())
OBSERVE = Observe(True, SettleRule(), PictureOptions())


class FakeWindows:
    """Two windows that have the keyboard in turn, and a panel."""

    panel = Region(0, 1032, 1920, 1080)

    def __init__(self) -> None:
        self._windows = [Focused(1, "Before"), Focused(2, "After")]

    def focused(self) -> Focused | None:
        self._windows.append(self._windows[0])
        return self._windows.pop(0)

    def nothing_focused(self) -> bool:
        return False

    def margins(self) -> tuple[Region, ...]:
        return (self.panel,)


class Scene:
    """An observer of a fake screen."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.screen = FakeScreen(self.clock)
        self.pictures = FakePictures()
        self.windows = FakeWindows()
        self.observer = Observer(self.screen, self.pictures, "boot", self.clock, self.windows)
        self.stages = Stages(self.clock)

    async def nothing(self) -> str:
        return "acted"

    def coming(self, after: float, *regions: Region) -> None:
        self.screen.coming.append(Damage(self.clock.now + after, regions))

    async def watched(
        self, observe: Observe = OBSERVE, act: Callable[[], Awaitable[str]] | None = None
    ) -> Observation:
        result, seen = await self.observer.watched(act or self.nothing, observe, VIEW, self.stages)
        assert result == "acted"
        assert all(watch.closed for watch in self.screen.watches)
        return seen


@contextmanager
def scene() -> Iterator[Scene]:
    made = Scene()
    try:
        yield made
    finally:
        made.observer.close()
        made.observer.close()


def test_stages_add_up_in_milliseconds() -> None:
    clock = FakeClock()
    stages = Stages(clock)
    for _ in range(2):
        with stages.stage("act"):
            clock.now += 0.25
    assert stages.taken == {"act": 500.0}


def test_a_stage_is_timed_although_its_body_failed() -> None:
    stages = Stages(FakeClock())
    with pytest.raises(ValueError, match="body"), stages.stage("act"):
        raise ValueError("body")
    assert stages.taken == {"act": 0.0}


def test_a_picture_shows_the_pointer_by_default() -> None:
    async def run(s: Scene) -> None:
        await s.observer.picture(VIEW, s.stages)
        await s.observer.picture(View(VIEW.size, SPOT, PictureOptions(cursor=False)), s.stages)

    with scene() as s:
        asyncio.run(run(s))
        first, second = s.pictures.asked
        assert first.pointer is s.screen.drawn
        assert second.pointer is None
        assert second.region == SPOT


def test_a_picture_the_caller_has_is_not_made_again() -> None:
    async def run(s: Scene) -> None:
        first = await s.observer.picture(VIEW, s.stages)
        again = await s.observer.picture(VIEW, s.stages, frozenset({"other", first.etag}))
        assert again.data is None
        s.screen.drawn = pointer(9, 9)
        moved = await s.observer.picture(VIEW, s.stages, frozenset({first.etag}))
        assert moved.data is not None
        assert moved.frame_id != first.frame_id
        assert moved.frame_id == await s.observer.frame_id()

    with scene() as s:
        asyncio.run(run(s))


def test_since_counts_what_is_painted_and_where_the_pointer_is() -> None:
    async def run(s: Scene) -> None:
        async def seen_since(known: str) -> bool:
            view = View(VIEW.size, None, PictureOptions(since=known))
            return (await s.observer.picture(view, s.stages)).data is None

        assert await seen_since(await s.observer.frame_id())
        known = await s.observer.frame_id()
        s.screen.drawn = pointer(9, 9)
        assert not await seen_since(known)
        known = await s.observer.frame_id()
        assert await seen_since(known)
        s.screen.paint(SPOT)
        assert not await seen_since(known)
        assert not await seen_since("another-boot-0")

    with scene() as s:
        asyncio.run(run(s))


def test_nothing_painted_is_seen_as_no_change() -> None:
    with scene() as s:
        seen = asyncio.run(s.watched())
        assert seen.settled == "no_change"
        assert seen.changes.fraction == 0.0
        assert seen.screenshot is not None
        assert s.stages.taken["settle"] == pytest.approx(250)


def test_what_the_action_painted_is_seen_when_it_rests() -> None:
    with scene() as s:
        s.coming(0.02, SPOT)
        seen = asyncio.run(s.watched())
        assert seen.settled == "quiet"
        assert seen.changes.regions == (SPOT,)
        assert seen.changes.fraction == 200 / (1920 * 1080)
        assert s.pictures.asked[0].counter == 1
        assert s.stages.taken["settle"] == pytest.approx(70)


def test_painting_without_end_is_observed_after_the_longest_wait() -> None:
    with scene() as s:
        for i in range(200):
            s.coming(i * 0.02, Region(i, 0, i + 1, 1))
        seen = asyncio.run(s.watched())
        assert seen.settled == "ceiling"
        assert s.stages.taken["settle"] == pytest.approx(3000, abs=21)


def test_a_timer_that_ends_early_is_waited_for_again() -> None:
    with scene() as s:
        s.screen.early_timers = 2
        assert asyncio.run(s.watched()).settled == "no_change"
        assert s.stages.taken["settle"] == pytest.approx(250)


def test_what_was_restless_before_the_action_does_not_count() -> None:
    with scene() as s:
        now = s.clock.now
        s.screen.recent = (Damage(now - 0.8, (SPOT,)), Damage(now - 0.3, (SPOT,)))
        s.coming(0.1, SPOT)
        seen = asyncio.run(s.watched())
        assert seen.settled == "no_change"
        assert seen.changes.regions == (SPOT,)


def test_effects_of_the_action_before_are_not_taken_for_restlessness() -> None:
    async def run(s: Scene) -> None:
        s.observer.note_action()
        now = s.clock.now
        s.screen.recent = (Damage(now + 0.1, (SPOT,)), Damage(now + 0.2, (SPOT,)))
        s.clock.now += 0.3
        s.coming(0.1, SPOT)
        assert (await s.watched()).settled == "quiet"

    with scene() as s:
        asyncio.run(run(s))


def test_observing_without_waiting() -> None:
    with scene() as s:
        s.coming(0.02, SPOT)
        seen = asyncio.run(s.watched(Observe(False, None, PictureOptions())))
        assert seen.settled is None
        assert seen.screenshot is None
        assert s.stages.taken["settle"] == 0


def test_the_watch_is_closed_although_acting_failed() -> None:
    async def fail() -> str:
        raise ValueError("acting")

    with scene() as s:
        with pytest.raises(ValueError, match="acting"):
            asyncio.run(s.watched(act=fail))
        assert [watch.closed for watch in s.screen.watches] == [True]


class Hanging(FakeScreen):
    """A display that responds once a test releases it."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self.asked, self.answers = threading.Event(), threading.Event()

    def watch(self) -> FakeWatch:
        self.asked.set()
        assert self.answers.wait(20)
        return super().watch()


@pytest.mark.parametrize("leaves", [True, False])
def test_a_display_that_hangs_does_not_block_later_calls(leaves: bool) -> None:
    async def scenario() -> list[bool]:
        observing = asyncio.create_task(observer.watched(s.nothing, OBSERVE, VIEW, s.stages))
        assert await asyncio.to_thread(hanging.asked.wait, 20)
        if leaves:
            observing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await observing
            hanging.answers.set()
        else:
            hanging.answers.set()
            await observing
        await observer.frame_id()
        return [watch.closed for watch in hanging.watches]

    with scene() as s:
        hanging = Hanging(s.clock)
        observer = Observer(hanging, s.pictures, "boot", s.clock)
        assert asyncio.run(asyncio.wait_for(scenario(), 20)) == [True]
        observer.close()


def test_a_lost_display_is_reported_before_an_action_begins() -> None:
    acted = []

    async def act() -> str:
        acted.append(Point(0, 0))
        return "acted"

    with scene() as s:
        s.screen.broken = DisplayGone(":7")
        with pytest.raises(DisplayGone):
            asyncio.run(s.watched(act=act))
        assert acted == []


def test_the_focused_window_is_reported_before_and_after() -> None:
    with scene() as s:
        seen = asyncio.run(s.watched())
        assert (seen.focused_before, seen.focused_after) == (
            Focused(1, "Before"),
            Focused(2, "After"),
        )


def test_damage_that_is_not_yet_read_prevents_settling() -> None:
    """On a busy machine the thread that reads them may be late."""

    unread = [(SPOT,)]

    class Late(FakeScreen):
        def frame(self) -> Frame:
            if self.watches and self.clock.now > busy and unread:
                self.coming.append(Damage(self.clock.now, unread.pop()))
            return super().frame()

    with scene() as s:
        late = Late(s.clock)
        busy = s.clock.now + 0.01
        observer = Observer(late, s.pictures, "boot", s.clock)
        late.coming.append(Damage(s.clock.now + 0.02, (SPOT,)))
        _, seen = asyncio.run(observer.watched(s.nothing, OBSERVE, VIEW, s.stages))
        assert seen.settled == "quiet"
        assert seen.frame_id == "boot-2"
        observer.close()


def test_a_panel_is_painted_before_the_window_that_it_lists() -> None:
    with scene() as s:
        s.coming(0.05, FakeWindows.panel)
        s.coming(0.4, SPOT)
        seen = asyncio.run(s.watched())
        assert seen.settled == "quiet"
        assert SPOT in seen.changes.regions


def test_motion_throughout_one_observation_is_no_change_for_the_next() -> None:
    spinner = Region(500, 500, 540, 540)
    with scene() as s:
        for turn in range(200):
            s.coming(turn * 0.05, spinner)

        async def twice() -> tuple[Observation, Observation]:
            first = await s.watched()
            return first, await s.watched()

        first, second = asyncio.run(twice())
        assert first.settled == "ceiling"
        assert second.settled == "no_change"
