"""Connections, reloads and calls of the servers of one desktop."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from deskhand.desktop.mcp_client.errors import (
    BadToolName,
    ManagerClosed,
    ServerFailed,
    UnknownServer,
)
from deskhand.desktop.mcp_client.tool_servers import NOT_APPROVED, ToolServers
from tests.desktop.mcp_client.fakes import FakeConnector, MemoryFiles

Json = dict[str, Any]

ONE: Json = {"a": {"command": "one"}}
TWO: Json = {"a": {"command": "one"}, "b": {"command": "two"}}


class Bench:
    """Servers over fakes; pauses are counted and take no time."""

    def __init__(self, servers: Json | None = None, *, trust: bool = True) -> None:
        self.files = MemoryFiles(servers)
        self.connector = FakeConnector()
        self.pauses: list[float] = []
        self.on_pause: Callable[[], None] = lambda: None
        self.occupied = False
        self.stop = asyncio.Event()
        self.servers = ToolServers(
            *(self.files, self.connector),
            trust=trust,
            may_start=lambda: not self.occupied,
            stopped=self._stopped,
            pause=self._pause,
        )

    async def _stopped(self) -> None:
        await self.stop.wait()

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.on_pause()

    async def states(self, *, refresh: bool = False) -> dict[str, str]:
        """State of each server."""
        listed = (await self.servers.catalog(refresh=refresh))["servers"]
        return {one["name"]: one["state"] for one in listed}

    async def names(self) -> list[str]:
        """Names of all tools."""
        return [tool["name"] for tool in (await self.servers.catalog())["tools"]]


def run(scenario: Callable[[Bench], Awaitable[None]], bench: Callable[[], Bench]) -> None:
    async def inside() -> None:
        made = bench()
        async with made.servers:
            await scenario(made)
        assert all(server.closed for server in made.connector.opened)

    asyncio.run(inside())


def test_a_missing_file_has_no_tools() -> None:
    async def scenario(bench: Bench) -> None:
        assert await bench.servers.catalog() == {"tools": [], "servers": []}

    run(scenario, Bench)


def test_only_what_changed_is_connected_again() -> None:
    async def scenario(bench: Bench) -> None:
        assert await bench.names() == ["a__echo", "b__echo"]
        bench.files.write({**ONE, "b": {"command": "new"}, "c": {"command": "three"}})
        assert await bench.names() == ["a__echo", "b__echo", "c__echo"]
        assert sorted(bench.connector.commands()) == ["new", "one", "three", "two"]
        assert [one.entry.command for one in bench.connector.opened if one.closed] == ["two"]
        bench.files.write(ONE)
        assert await bench.names() == ["a__echo"]

    run(scenario, lambda: Bench(TWO))


def test_an_unchanged_file_is_not_read_again() -> None:
    async def scenario(bench: Bench) -> None:
        for _ in range(3):
            await bench.names()
        assert (bench.files.reads, bench.pauses) == (1, [])

    run(scenario, lambda: Bench(ONE))


def test_a_watched_file_is_read_without_a_request_while_programs_may_start() -> None:
    async def scenario(bench: Bench) -> None:
        changed: asyncio.Queue[str] = asyncio.Queue()
        bench.files.changed = changed
        assert await bench.names() == ["a__echo", "b__echo"]
        first, second = bench.connector.opened
        bench.occupied = True
        bench.files.write(ONE)
        changed.put_nowait("the file")
        await changed.join()
        assert not second.closed
        bench.occupied = False
        changed.put_nowait("the file")
        await changed.join()
        assert second.closed
        assert not first.closed
        assert bench.pauses == [0.25]

    run(scenario, lambda: Bench(TWO))


def test_a_file_is_read_when_it_rests() -> None:
    async def scenario(bench: Bench) -> None:
        await bench.names()
        later: list[Json] = [{}, TWO]

        def write() -> None:
            if later:
                bench.files.write(later.pop(0))

        bench.on_pause = write
        bench.files.write({})
        assert await bench.names() == ["a__echo", "b__echo"]
        assert (bench.files.reads, bench.pauses) == (2, [0.25] * 3)
        assert not bench.connector.opened[0].closed

    run(scenario, lambda: Bench(ONE))


def test_servers_connect_in_parallel_and_requests_share_one_reload() -> None:
    async def scenario(bench: Bench) -> None:
        requests = [asyncio.create_task(bench.names()) for _ in range(5)]
        await bench.connector.all_wait.wait()
        bench.connector.release.set()
        assert await asyncio.gather(*requests) == [["a__echo", "b__echo"]] * 5
        assert (bench.files.reads, len(bench.connector.opened)) == (1, 2)

    run(scenario, lambda: Bench({"a": {"command": "wait"}, "b": {"command": "wait"}}))


def test_a_request_that_is_cancelled_leaves_the_reload() -> None:
    async def scenario(bench: Bench) -> None:
        request = asyncio.create_task(bench.names())
        await bench.connector.all_wait.wait()
        request.cancel()
        await asyncio.gather(request, return_exceptions=True)
        bench.connector.release.set()
        assert await bench.names() == ["a__echo", "b__echo"]

    run(scenario, lambda: Bench({"a": {"command": "wait"}, "b": {"command": "wait"}}))


def test_a_failing_server_is_left_out_and_reported() -> None:
    async def scenario(bench: Bench) -> None:
        bench.connector.failing = {"two"}
        catalog = await bench.servers.catalog()
        assert [tool["name"] for tool in catalog["tools"]] == ["a__echo"]
        states = {one["name"]: (one["state"], one["error"]) for one in catalog["servers"]}
        assert states == {"a": ("connected", ""), "b": ("failed", "two failed")}
        with pytest.raises(ServerFailed, match="b: two failed"):
            await bench.servers.call("b__echo", {})
        bench.connector.failing = set()
        assert (await bench.states())["b"] == "failed"
        assert (await bench.states(refresh=True))["b"] == "connected"

    run(scenario, lambda: Bench(TWO))


@pytest.mark.parametrize("lists", [True, False])
def test_the_old_connection_stays_when_a_changed_server_fails(lists: bool) -> None:
    async def scenario(bench: Bench) -> None:
        await bench.names()
        bench.connector.failing, bench.connector.list_fails = {"new"} if lists else set(), not lists
        bench.files.write({"a": {"command": "new"}})
        assert (await bench.states())["a"] == "failed"
        answer = await bench.servers.call("a__echo", {})
        assert answer["content"][0]["text"] == "one"
        assert not bench.connector.opened[0].closed
        # The failed definition is not tried at each request.
        assert (await bench.states())["a"] == "failed"
        assert bench.connector.commands() == (["one"] if lists else ["one", "new"])

    run(scenario, lambda: Bench(ONE))


def test_a_refresh_lists_tools_again() -> None:
    async def scenario(bench: Bench) -> None:
        await bench.names()
        bench.connector.opened[0].tools = ["new"]
        await asyncio.gather(*(bench.servers.catalog(refresh=True) for _ in range(2)))
        assert await bench.names() == ["a__new"]
        bench.connector.opened[0].failure = "no list"
        assert await bench.states(refresh=True) == {"a": "failed"}

    run(scenario, lambda: Bench(ONE))


def test_a_server_that_reports_a_change_is_asked_for_its_tools_again() -> None:
    async def scenario(bench: Bench) -> None:
        assert await bench.names() == ["a__echo", "b__echo"]
        first, second = bench.connector.opened
        first.tools, second.tools = ["new"], ["not reported"]
        first.tools_changed = True
        # A call needs no list.
        await bench.servers.call("a__new", {})
        assert first.tools_changed
        assert await bench.names() == ["a__new", "b__echo"]
        # The files have not changed, so that nothing is waited for.
        assert bench.pauses == []
        assert len(bench.connector.opened) == 2
        first.tools_changed, first.failure = True, "no list"
        states = [await bench.states() for _ in range(2)]
        assert states == [{"a": "failed", "b": "connected"}] * 2

    run(scenario, lambda: Bench(TWO))


def test_a_refresh_that_meets_a_reload_runs_after_it() -> None:
    async def scenario(bench: Bench) -> None:
        first = asyncio.create_task(bench.names())
        await bench.connector.all_wait.wait()
        refresh = asyncio.create_task(bench.states(refresh=True))
        await asyncio.sleep(0)
        bench.connector.release.set()
        assert await refresh == {"a": "connected", "b": "connected"}
        await first
        assert bench.files.reads == 2

    run(scenario, lambda: Bench({"a": {"command": "wait"}, "b": {"command": "wait"}}))


def test_a_server_that_ended_is_started_again_by_a_call() -> None:
    async def scenario(bench: Bench) -> None:
        await bench.names()
        bench.connector.opened[0].ended = "it has ended"
        assert await bench.states() == {"a": "failed"}
        calls = (bench.servers.call("a__echo", {}) for _ in range(3))
        assert len(await asyncio.gather(*calls)) == 3
        assert bench.connector.commands() == ["one", "one"]
        bench.connector.opened[1].ended = "it has ended"
        bench.connector.failing = {"one"}
        with pytest.raises(ServerFailed, match="a: one failed"):
            await bench.servers.call("a__echo", {})

    run(scenario, lambda: Bench(ONE))


def test_wrong_calls_have_their_own_errors() -> None:
    async def scenario(bench: Bench) -> None:
        for name, kind in (("echo", BadToolName), ("x__echo", UnknownServer)):
            with pytest.raises(kind):
                await bench.servers.call(name, {})
        with pytest.raises(ServerFailed, match="a: broken"):
            await bench.servers.call("a__break", {})

    run(scenario, lambda: Bench(ONE))


def test_an_entry_runs_after_its_approval_only() -> None:
    async def scenario(bench: Bench) -> None:
        (server,) = (await bench.servers.catalog())["servers"]
        assert (server["state"], server["error"]) == ("needs_approval", NOT_APPROVED)
        assert (server["summary"], server["transport"]) == ("one", "stdio")
        with pytest.raises(ServerFailed, match=f"a: {NOT_APPROVED}"):
            await bench.servers.call("a__echo", {})
        assert bench.servers.approve([server["digest"]]) == 1
        assert await bench.names() == ["a__echo"]
        assert bench.servers.approve([server["digest"]]) == 1
        # A changed definition needs a new approval.
        bench.files.write({"a": {"command": "one", "args": ["--more"]}})
        assert await bench.states() == {"a": "needs_approval"}
        assert bench.connector.opened[0].closed

    run(scenario, lambda: Bench(ONE, trust=False))


def test_bad_entries_and_unreadable_files_are_reported() -> None:
    async def scenario(bench: Bench) -> None:
        assert await bench.states() == {"a": "connected", "b": "invalid"}

    run(scenario, lambda: Bench({**ONE, "b": {}}))


def test_closing_ends_what_is_being_connected() -> None:
    async def scenario(bench: Bench) -> None:
        request = asyncio.create_task(bench.names())
        await bench.connector.all_wait.wait()
        await bench.servers.close()
        with pytest.raises(ManagerClosed, match="are closed"):
            await request
        with pytest.raises(ManagerClosed):
            await bench.servers.call("a__echo", {})

    run(scenario, lambda: Bench({"a": {"command": "wait"}, "b": {"command": "wait"}}))


def test_a_call_of_a_server_elsewhere_is_cancelled_when_programs_are_stopped() -> None:
    async def scenario(bench: Bench) -> None:
        await bench.names()
        (server,) = bench.connector.opened
        call = asyncio.create_task(bench.servers.call("far__wait", {}))
        await server.called.wait()
        assert (await bench.servers.call("far__echo", {}))["is_error"] is False
        bench.stop.set()
        with pytest.raises(ServerFailed, match="far: the call was cancelled"):
            await call
        assert server.cancelled
        assert not server.closed

    run(scenario, lambda: Bench({"far": {"url": "https://x.example/mcp"}}))


def test_a_call_of_a_program_is_not_cancelled_when_programs_are_stopped() -> None:
    async def scenario(bench: Bench) -> None:
        await bench.names()
        bench.stop.set()
        assert (await bench.servers.call("a__echo", {}))["is_error"] is False

    run(scenario, lambda: Bench(ONE))
