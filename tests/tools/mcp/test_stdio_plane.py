import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from deskhand.desktop.errors import DesktopUnavailable
from deskhand.tools.mcp.plane_process import PlaneNotStarted
from deskhand.tools.mcp.stdio_plane import PlaneAddress, StdioPlane
from tests.desktop.serving import serving
from tests.tools.mcp.fakes import CHAT, FakePlane


class Environment:
    """What a process finds: an address, or the control planes that it starts."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.running: PlaneAddress | None = None
        self.started: list[FakeProcess] = []
        self.fails = False

    def find(self) -> PlaneAddress | None:
        return self.running

    def process(self) -> "FakeProcess":
        made = FakeProcess(self)
        self.started.append(made)
        return made

    def connection(self) -> StdioPlane:
        return StdioPlane(self.find, self.process)


class FakeProcess:
    """A control plane that listens where the test serves one."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self.begun = asyncio.Event()
        self.may_start = asyncio.Event()
        self.may_start.set()
        self.closed = False

    async def start(self) -> dict[str, Any]:
        self.begun.set()
        await self.may_start.wait()
        if self._environment.fails:
            raise PlaneNotStarted("it did not start")
        return {"url": self._environment.address, "token": "t", "pid": 1}

    async def close(self) -> None:
        self.closed = True


def run(scenario: Callable[[Environment, FakePlane], Awaitable[None]]) -> None:
    async def inside() -> None:
        plane = FakePlane()
        async with serving(plane.app) as address:
            await scenario(Environment(address), plane)

    asyncio.run(inside())


def test_a_running_control_plane_is_used_and_the_chat_ends_with_the_process() -> None:
    async def scenario(environment: Environment, plane: FakePlane) -> None:
        environment.running = PlaneAddress(environment.address, "t")
        connection = environment.connection()
        first, second = await asyncio.gather(connection(), connection())
        assert first is second
        assert first.chat_id == CHAT
        assert plane.asked("create") == [{"title": "MCP"}]
        await connection.close()
        await connection.close()
        assert len(plane.asked("archive")) == 1
        assert not environment.started

    run(scenario)


def test_without_one_a_control_plane_is_started_once_and_ended() -> None:
    async def scenario(environment: Environment, plane: FakePlane) -> None:
        connection = environment.connection()
        await asyncio.gather(connection(), connection())
        (process,) = environment.started
        await connection.close()
        assert process.closed

    run(scenario)


def test_a_cancelled_call_does_not_stop_the_start() -> None:
    async def scenario(environment: Environment, plane: FakePlane) -> None:
        connection = environment.connection()
        call = asyncio.ensure_future(connection())
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        assert (await connection()).chat_id == CHAT
        assert len(environment.started) == 1
        await connection.close()

    run(scenario)


def test_a_failed_start_is_reported_and_tried_again() -> None:
    async def scenario(environment: Environment, plane: FakePlane) -> None:
        connection = environment.connection()
        environment.fails = True
        with pytest.raises(DesktopUnavailable, match="did not start"):
            await connection()
        environment.fails = False
        assert (await connection()).chat_id == CHAT
        assert environment.started[0].closed
        await connection.close()

    run(scenario)


def test_two_processes_that_start_at_once_share_one_control_plane() -> None:
    async def scenario(environment: Environment, plane: FakePlane) -> None:
        environment.fails = True
        address = PlaneAddress(environment.address, "t")
        answers = iter([None, address])
        connection = StdioPlane(lambda: next(answers), environment.process)
        assert (await connection()).chat_id == CHAT
        await connection.close()

    run(scenario)


def test_another_service_is_refused() -> None:
    async def scenario(environment: Environment, plane: FakePlane) -> None:
        environment.running = PlaneAddress(f"{environment.address}/elsewhere", "t")
        connection = environment.connection()
        with pytest.raises(DesktopUnavailable, match="is no control plane"):
            await connection()
        environment.running = PlaneAddress("http://127.0.0.1:1", "t")
        with pytest.raises(DesktopUnavailable):
            await connection()
        await connection.close()

    run(scenario)


def test_a_control_plane_that_has_gone_is_sought_again() -> None:
    async def scenario(environment: Environment, plane: FakePlane) -> None:
        connection = environment.connection()
        await connection.check()
        other = FakePlane()
        async with serving(other.app) as address:
            environment.running = PlaneAddress(address, "t")
            first = await connection()
            await connection.check()
            assert await connection() is first
        environment.running = PlaneAddress(environment.address, "t")
        await connection.check()
        assert await connection() is not first
        assert plane.asked("create")
        await connection.close()

    run(scenario)


def test_a_process_that_ends_during_the_start_ends_that_too() -> None:
    async def scenario(environment: Environment, plane: FakePlane) -> None:
        process = FakeProcess(environment)
        process.may_start.clear()
        connection = StdioPlane(environment.find, lambda: process)
        call = asyncio.ensure_future(connection())
        await process.begun.wait()
        await connection.close()
        assert process.closed
        assert isinstance((await asyncio.gather(call, return_exceptions=True))[0], BaseException)

    run(scenario)
