import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopUnavailable
from deskhand.tools.conversation.errors import NoDesktop
from deskhand.tools.fleet.first_uses import DISPLAY, FirstUses

LIMIT = 20.0


class FakeService:
    """A desktop service that answers the waits for its first use with these states."""

    def __init__(self, *answers: str | Exception) -> None:
        self._answers = list(answers)

    async def request(self, method: str, path: str, **_: Any) -> dict[str, str]:
        assert (method, path) == ("GET", DISPLAY)
        answer = self._answers.pop(0) if self._answers else "absent"
        if isinstance(answer, Exception):
            raise answer
        await asyncio.sleep(0)
        return {"state": answer}


class Bench:
    def __init__(
        self, *answers: str | Exception, keeps_alive: Callable[[], bool] = lambda: True
    ) -> None:
        self.service = FakeService(*answers)
        self.without_display = {"d1"}
        self.used: list[str] = []
        self.shown = asyncio.Event()
        self.failures: list[Exception] = []
        self.uses = FirstUses(
            lambda _: cast(DesktopClient, self.service),
            lambda desktop_id: desktop_id in self.without_display,
            retry_seconds=0.0,
            keeps_alive=keeps_alive,
        )
        self.uses.on_use = self._show

    async def _show(self, desktop_id: str) -> None:
        self.used.append(desktop_id)
        if self.failures:
            raise self.failures.pop()
        self.without_display.discard(desktop_id)
        self.shown.set()


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(LIMIT):
            await scenario()

    asyncio.run(main())


def test_a_display_is_started_at_its_first_use_once() -> None:
    async def scenario() -> None:
        bench = Bench("absent", "absent", "wanted", "wanted")
        bench.uses.watch("d1")
        await bench.shown.wait()
        await bench.uses.close()
        assert bench.used == ["d1"]

    run(scenario)


def test_a_start_that_fails_is_tried_again() -> None:
    async def scenario() -> None:
        bench = Bench(DesktopUnavailable("starting"), "wanted", "wanted")
        bench.failures = [NoDesktop("no room")]
        bench.uses.watch("d1")
        await bench.shown.wait()
        assert bench.used == ["d1", "d1"]

    run(scenario)


def test_a_desktop_that_ends_is_not_waited_for() -> None:
    async def scenario() -> None:
        bench = Bench()
        bench.without_display.clear()
        bench.uses.watch("d1")
        await asyncio.sleep(0)
        await bench.uses.close()
        await bench.uses.close()
        assert bench.used == []

    run(scenario)


def test_a_service_that_is_ending_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(ends: bool) -> None:
        bench = Bench(DesktopUnavailable("Connection refused"), *["wanted"] * (not ends))

        async def failing(method: str, path: str, **_: Any) -> dict[str, str]:
            if ends:
                bench.without_display.clear()
            return await FakeService.request(bench.service, method, path)

        bench.service.request = failing  # type: ignore[method-assign]
        bench.uses.watch("d1")
        (task,) = [one for one in asyncio.all_tasks() if one.get_name() == "first use of d1"]
        await task

    run(lambda: scenario(ends=True))
    assert caplog.messages == []
    run(lambda: scenario(ends=False))
    assert caplog.messages == ["the display of d1 is not started: Connection refused"]


def test_a_desktop_that_is_being_ended_is_not_waited_for_any_more() -> None:
    async def scenario() -> None:
        bench = Bench()
        bench.uses.watch("d1")
        (task,) = [one for one in asyncio.all_tasks() if one.get_name() == "first use of d1"]
        await asyncio.sleep(0)
        bench.uses.forget("d1")
        bench.uses.forget("d2")
        await asyncio.wait([task])
        assert task.cancelled()

    run(scenario)


def test_closing_ends_the_waits() -> None:
    async def scenario() -> None:
        bench = Bench()
        bench.uses.watch("d1")
        await asyncio.sleep(0)
        await bench.uses.close()
        assert bench.used == []

    run(scenario)


def test_a_desktop_that_nobody_wants_is_not_kept_alive_by_the_wait() -> None:
    answers = iter([False, False, True, True, True])
    asked: list[bool] = []

    def keeps_alive() -> bool:
        asked.append(next(answers))
        return asked[-1]

    async def scenario() -> None:
        bench = Bench("wanted", keeps_alive=keeps_alive)
        bench.uses.watch("d1")
        await bench.shown.wait()
        await bench.uses.close()
        assert asked[:3] == [False, False, True]
        assert bench.used == ["d1"]

    run(scenario)
