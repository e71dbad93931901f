"""Waits on a screen that tests paint, with a clock of its own for nothing but the limits."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import numpy as np
import pytest

from deskhand.desktop.capture.frames import Damage, Frame
from deskhand.desktop.computer.observer import Observer
from deskhand.desktop.errors import DisplayGone, HumanInControl
from deskhand.desktop.events.bus import EventBus
from deskhand.desktop.geometry import Region, Size, space
from deskhand.desktop.waiting.conditions import Conditions
from deskhand.desktop.waiting.screen_wait import ScreenWait, Sources, WaitResult

SPACE = space("model", Size(1920, 1080))
REGION = Region(0, 0, 10, 10)


class FakeScreen:
    """The screen as an observer sees it: paints come from the test."""

    def __init__(self) -> None:
        self.damage: asyncio.Queue[Damage | None] = asyncio.Queue()
        self.differs = False
        self.open = 0

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[tuple["FakeScreen", Frame]]:
        self.open += 1
        yield self, Frame(np.zeros((1, 1, 4), np.uint8), 0, 0.0)
        self.open -= 1

    def recent(self) -> tuple[Damage, ...]:
        return ()

    async def next(self, timeout: float) -> Damage | None:
        found = await self.damage.get()
        if found is None:
            raise DisplayGone(":9")
        return found

    async def changed_in(self, before: Frame, region: Region) -> bool:
        return self.differs

    def paint(self) -> None:
        loop = asyncio.get_running_loop()
        self.damage.put_nowait(Damage(loop.time(), (REGION,)))


class Process:
    def __init__(self) -> None:
        self.exited = asyncio.Event()

    async def wait_exit(self) -> None:
        await self.exited.wait()


class Desk:
    """One desktop: what it shows, and how often its texts were read."""

    def __init__(self) -> None:
        self.screen = FakeScreen()
        self.texts: tuple[str, ...] = ()
        self.titles: tuple[str, ...] = ()
        self.read = asyncio.Semaphore(0)
        self.private = False
        self.events = EventBus()
        self.listed = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def _texts(self) -> tuple[str, ...]:
        self._loop.call_soon_threadsafe(self.read.release)
        return self.texts

    def check_view(self) -> None:
        if self.private:
            raise HumanInControl("a person")

    def _titles(self) -> tuple[str, ...]:
        self._loop.call_soon_threadsafe(self.listed.set)
        return self.titles

    async def until(self, exits: Process | None = None, **wanted: Any) -> WaitResult:
        sources = Sources(self._texts, self._titles, lambda: None, self.events)
        observer = cast(Observer, self.screen)
        clock = asyncio.get_running_loop().time
        wait = ScreenWait(observer, sources, self.check_view, clock)
        return await wait.until(Conditions(SPACE, **wanted), exits)

    async def waiting(self, **wanted: Any) -> asyncio.Task[WaitResult]:
        """Return a wait that has read its facts once."""
        task = asyncio.create_task(self.until(**wanted))
        # A wait that fails before its first read must not hang the test.
        reading = asyncio.create_task(self.listed.wait())
        await asyncio.wait((task, reading), return_when=asyncio.FIRST_COMPLETED)
        reading.cancel()
        return task


def test_what_holds_already_is_answered_at_once() -> None:
    async def scenario() -> None:
        desk = Desk()
        desk.texts = ("All done",)
        assert (await desk.until(text="done")).unmet == ()
        assert desk.screen.open == 0

    asyncio.run(scenario())


def test_a_paint_wakes_the_wait_for_a_text() -> None:
    async def scenario() -> None:
        desk = Desk()
        task = await desk.waiting(text="done")
        desk.texts = ("All done",)
        desk.screen.paint()
        assert (await task).unmet == ()

    asyncio.run(scenario())


def test_a_text_that_follows_its_paint_is_found() -> None:
    async def scenario() -> None:
        desk = Desk()
        task = await desk.waiting(text="done")
        desk.screen.paint()
        for _ in range(3):
            await desk.read.acquire()
        desk.texts = ("All done",)
        assert (await task).unmet == ()

    asyncio.run(scenario())


def test_a_window_event_wakes_the_wait_for_a_window() -> None:
    async def scenario() -> None:
        desk = Desk()
        task = await desk.waiting(window="mail")
        desk.titles = ("Mail",)
        desk.events.publish("window_opened", {})
        assert (await task).facts.windows == ("Mail",)

    asyncio.run(scenario())


def test_the_exit_of_a_process_wakes_the_wait_for_it() -> None:
    async def scenario() -> None:
        desk, process = Desk(), Process()
        task = asyncio.create_task(desk.until(process, process="p1"))
        await desk.listed.wait()
        process.exited.set()
        assert (await task).facts.exited

    asyncio.run(scenario())


def test_a_region_is_compared_with_the_begin_of_the_wait() -> None:
    async def scenario() -> None:
        desk = Desk()
        task = await desk.waiting(changed_region=REGION)
        desk.screen.differs = True
        desk.screen.paint()
        assert (await task).facts.changed

    asyncio.run(scenario())


def test_the_screen_rests_once_nothing_was_painted_for_the_time() -> None:
    async def scenario() -> None:
        found = await Desk().until(quiet_ms=40)
        assert found.unmet == ()
        assert found.seconds >= 0.04

    asyncio.run(scenario())


def test_after_the_timeout_the_result_has_what_is_missing_and_what_was_there() -> None:
    async def scenario() -> None:
        desk = Desk()
        desk.titles = ("Files",)
        found = await desk.until(text="done", seconds=0.0)
        assert (found.unmet, found.facts.windows) == (("text",), ("Files",))

    asyncio.run(scenario())


def test_private_control_ends_the_wait() -> None:
    async def scenario() -> None:
        desk = Desk()
        task = await desk.waiting(text="done")
        desk.private = True
        desk.screen.paint()
        with pytest.raises(HumanInControl):
            await task
        with pytest.raises(HumanInControl):
            await desk.until(text="done")

    asyncio.run(scenario())


def test_a_lost_display_ends_the_wait_with_its_error() -> None:
    async def scenario() -> None:
        desk = Desk()
        task = await desk.waiting(text="done")
        desk.screen.damage.put_nowait(None)
        with pytest.raises(DisplayGone):
            await task

    asyncio.run(scenario())


def test_cancelling_ends_all_tasks_of_the_wait() -> None:
    async def scenario() -> None:
        desk = Desk()
        before = asyncio.all_tasks()
        task = await desk.waiting(text="done")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == before

    asyncio.run(scenario())
