"""Programs of stdio servers, with the SDK's session over their pipes."""

import asyncio
import json
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from deskhand.desktop.mcp_client.connector import McpConnector
from deskhand.desktop.mcp_client.errors import ServerFailed
from deskhand.desktop.mcp_client.server_entry import Pairs, ServerEntry, Transport
from deskhand.desktop.mcp_client.server_program import EndGrace, ServerPrograms
from deskhand.desktop.mcp_client.session import connect_program
from tests.system.services import until

SERVER = Path(__file__).parents[2] / "data" / "mcp" / "notes_server.py"
GRACE = EndGrace(0.5, 0.5)
PATIENCE = 20.0


def entry(*modes: str, env: Pairs = ()) -> ServerEntry:
    return ServerEntry("notes", "stdio", sys.executable, ("-SE", str(SERVER), *modes), env)


async def no_connection(_host: str, _port: int) -> socket.socket:
    raise OSError("the agent has no network")


def alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return stat[stat.rindex(b")") + 2 : stat.rindex(b")") + 3] not in (b"Z", b"X")


def descendants(marker: str) -> list[int]:
    """Processes with the marker variable of a server."""
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 -- pids
        try:
            if name.isdigit() and marker.encode() in Path(f"/proc/{name}/environ").read_bytes():
                found += [int(name)] if alive(int(name)) else []
        except OSError:
            continue
    return found


def run(scenario: Callable[[McpConnector, ServerPrograms], Awaitable[None]], folder: Path) -> None:
    async def inside() -> None:
        environment = {"PATH": os.environ["PATH"], "HOME": "/nowhere"}
        programs = ServerPrograms(lambda: dict(environment), lambda: [folder])
        async with asyncio.timeout(PATIENCE), programs:
            await scenario(McpConnector(programs, no_connection, "1", GRACE), programs)

    asyncio.run(inside())


def facts(result: Any) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(result["content"][0]["text"])
    return value


@pytest.mark.parametrize("modes", [(), ("slow",), ("noise",), ("modern",)])
def test_a_server_lists_and_runs_tools(tmp_path: Path, modes: tuple[str, ...]) -> None:
    async def scenario(connector: McpConnector, _: ServerPrograms) -> None:
        connection = await connector.connect(entry(*modes, env=(("KEY", "${HOME}/x"),)))
        names = [tool["name"] for tool in await connection.list_tools()]
        assert names == ["echo", "environment", "fail", "picture"]
        found = facts(await connection.call("environment", {"text": "KEY"}))
        assert (found["value"], found["cwd"]) == ("/nowhere/x", str(tmp_path))
        assert found["group"] == found["pid"]
        assert (await connection.call("fail", {}))["isError"] is True
        echoes = (connection.call("echo", {"text": str(number)}) for number in range(5))
        texts = [one["content"][0]["text"] for one in await asyncio.gather(*echoes)]
        assert texts == ["0", "1", "2", "3", "4"]
        assert connection.ended == ""
        await connection.close()
        assert not alive(found["pid"])

    run(scenario, tmp_path)


def test_a_process_that_left_the_group_ends_with_its_server(tmp_path: Path) -> None:
    async def scenario(connector: McpConnector, programs: ServerPrograms) -> None:
        connection = await connector.connect(entry("child"))
        marker = facts(await connection.call("environment", {"text": "DESKHAND_MCP_SERVER"}))
        # A process has no environment for a moment while it becomes another program.
        until(lambda: len(descendants(marker["value"])) == 2, "both processes")
        await connection.close()
        await connection.close()
        assert descendants(marker["value"]) == []

    run(scenario, tmp_path)


def test_a_server_that_does_not_initialize_is_ended(tmp_path: Path) -> None:
    async def scenario(_: McpConnector, programs: ServerPrograms) -> None:
        program = await programs.start(entry("hang"))
        with pytest.raises(ServerFailed, match=r"initialize was not answered in 0\.1 s"):
            await connect_program(program, EndGrace(0.0, 0.0), "1", initialize_seconds=0.1)
        assert program.ending.startswith("the server has ended with signal")

    run(scenario, tmp_path)


class AdvancedLoop(asyncio.SelectorEventLoop):
    """An event loop whose time a test advances."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead


def test_the_limit_of_initialize_does_not_end_a_server_that_is_initialized(tmp_path: Path) -> None:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, AdvancedLoop)
        environment = {"PATH": os.environ["PATH"]}
        async with ServerPrograms(lambda: dict(environment), lambda: [tmp_path]) as programs:
            connection = await connect_program(await programs.start(entry()), GRACE, "1")
            before = facts(await connection.call("environment", {"text": ""}))
            loop.ahead = 1000.0
            await asyncio.sleep(0)
            after = facts(await connection.call("environment", {"text": ""}))
            assert before["pid"] == after["pid"]
            assert connection.ended == ""
            await connection.close()

    with asyncio.Runner(loop_factory=AdvancedLoop) as runner:
        runner.run(scenario())


def test_a_server_that_dies_is_reported_with_its_errors(tmp_path: Path) -> None:
    async def scenario(connector: McpConnector, _: ServerPrograms) -> None:
        connection = await connector.connect(entry("die"))
        reason = "the server has ended with exit code 1: notes: out of paper"
        with pytest.raises(ServerFailed, match=reason):
            await connection.call("echo", {})
        assert connection.ended == reason
        await connection.close()

    run(scenario, tmp_path)


@pytest.mark.parametrize(
    ("command", "reason"),
    [("/nowhere/at-all", "exit code 127"), ("false", "exit code 1")],
)
def test_a_program_that_is_no_server_is_reported(tmp_path: Path, command: str, reason: str) -> None:
    async def scenario(connector: McpConnector, _: ServerPrograms) -> None:
        with pytest.raises(ServerFailed, match=reason):
            await connector.connect(ServerEntry("a", "stdio", command))

    run(scenario, tmp_path)


def test_a_message_without_an_end_ends_the_connection(tmp_path: Path) -> None:
    async def scenario(connector: McpConnector, _: ServerPrograms) -> None:
        with pytest.raises(ServerFailed):
            await connector.connect(entry("big"))

    run(scenario, tmp_path)


def test_a_cancelled_start_leaves_nothing(tmp_path: Path) -> None:
    async def scenario(connector: McpConnector, programs: ServerPrograms) -> None:
        program = await programs.start(entry("hang"))
        connecting = asyncio.create_task(connect_program(program, EndGrace(0.0, 0.0), "1"))
        await asyncio.sleep(0)
        connecting.cancel()
        await asyncio.gather(connecting, return_exceptions=True)
        assert program.ending

    run(scenario, tmp_path)


def test_the_library_that_cannot_be_loaded_is_reported(tmp_path: Path) -> None:
    def load(_: str) -> Any:
        raise ImportError("no mcp")

    async def scenario(_: McpConnector, programs: ServerPrograms) -> None:
        with pytest.raises(ServerFailed, match="the library of MCP cannot be loaded: no mcp"):
            await McpConnector(programs, no_connection, "1", GRACE, load).connect(entry())

    run(scenario, tmp_path)


@pytest.mark.parametrize("transport", ["http", "sse"])
def test_other_transports_use_connections_of_the_agent(
    tmp_path: Path, transport: Transport
) -> None:
    async def scenario(connector: McpConnector, _: ServerPrograms) -> None:
        entry = ServerEntry("web", transport, url="http://far.test/mcp")
        reason = "no connection to far.test:80: the agent has no network"
        with pytest.raises(ServerFailed, match=reason):
            await connector.connect(entry)

    run(scenario, tmp_path)
