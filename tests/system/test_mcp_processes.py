"""MCP on standard input and output, the processes that it starts, and what services load."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.system.services import DESKHAND, PATIENCE, Service, service, until

pytestmark = [
    *(pytest.mark.x11, pytest.mark.soak),
    pytest.mark.slow("starts control planes and desktops"),
]

IMPORTS = {"PYTHONPROFILEIMPORTTIME": "1"}
"""Makes Python write each import to the standard error."""

Json = dict[str, Any]
INITIALIZE: Json = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@asynccontextmanager
async def over_http(found: Service) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {found.token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE + 50) as http:
        transport = streamable_http_client(f"{found.url}/mcp", http_client=http)
        async with Client(transport) as client:
            yield client


class RawStdio:
    """One ``deskhand mcp``, spoken to line by line."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.data = folder / "data"
        self.errors = (folder / "errors.log").open("w")
        self.process = subprocess.Popen(
            [DESKHAND, "mcp", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env={**os.environ, "DESKHAND_DATA_DIR": str(self.data)},
        )
        self._number = 0

    def send(self, method: str, params: Json, **more: Any) -> None:
        assert self.process.stdin is not None
        message = {"jsonrpc": "2.0", "method": method, "params": params, **more}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: Json) -> Json:
        """Send a request and return its result; every line until then must be a message."""
        self._number += 1
        self.send(method, params, id=self._number)
        assert self.process.stdout is not None
        while True:
            message: Json = json.loads(self.process.stdout.readline())
            assert message["jsonrpc"] == "2.0"
            if message.get("id") == self._number:
                result: Json = message["result"]
                return result

    def begin(self) -> None:
        assert self.ask("initialize", INITIALIZE)["protocolVersion"] == "2025-06-18"
        self.send("notifications/initialized", {})

    def call(self, name: str, **arguments: Any) -> Json:
        return self.ask("tools/call", {"name": name, "arguments": arguments})

    @property
    def plane(self) -> Json:
        """What its control plane has announced; empty if none runs."""
        try:
            found: Json = json.loads((self.data / "run" / "plane.json").read_text())
        except FileNotFoundError:
            return {}
        return found


@contextmanager
def spoken(one: RawStdio) -> Iterator[RawStdio]:
    """End a process with the block."""
    try:
        yield one
    finally:
        one.process.kill()
        one.process.wait()
        for stream in (one.process.stdin, one.process.stdout, one.errors):
            if stream is not None:
                stream.close()


@contextmanager
def raw(folder: Path, *options: str) -> Iterator[RawStdio]:
    """A process that may start a control plane, which must end with it."""
    with spoken(RawStdio(folder, *options)) as one:
        yield one
    until(lambda: not one.plane, "the end of the control plane")


def alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_the_list_of_tools_starts_nothing(tmp_path: Path) -> None:
    with raw(tmp_path) as one:
        one.begin()
        tools = one.ask("tools/list", {})["tools"]
        assert len(tools) == 18
        assert not one.plane
        assert one.process.stdin is not None
        one.process.stdin.close()
        assert one.process.wait(PATIENCE) == 0


def test_its_control_plane_and_desktop_end_with_the_input(tmp_path: Path) -> None:
    with raw(tmp_path) as one:
        one.begin()
        found = one.call("execute", command="echo $((6*7))")
        assert found["content"][0]["text"] == "Exit code 0.\n42\n"
        plane = one.plane["pid"]
        shown = one.call("computer_look")
        assert [block["type"] for block in shown["content"]] == ["text", "image"], shown["content"]
        assert one.process.stdin is not None
        one.process.stdin.close()
        assert one.process.wait(PATIENCE + 30) == 0
        assert not alive(plane)


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.full)]
)
def test_its_control_plane_and_desktop_end_when_it_is_killed(tmp_path: Path, number: int) -> None:
    with raw(tmp_path) as one:
        one.begin()
        one.call("execute", command="true")
        headers = {"Authorization": f"Bearer {(one.data / 'token').read_text().strip()}"}
        listed = httpx2.get(f"{one.plane['url']}/api/v0/desktops", headers=headers).json()
        (desktop,) = [row["pid"] for row in listed["desktops"]]
        plane = one.plane["pid"]
        one.process.send_signal(number)
        one.process.wait(PATIENCE + 30)
        until(lambda: not alive(plane), "the end of the control plane")
        until(lambda: not alive(desktop), "the end of the desktop")


@dataclass(frozen=True)
class World:
    """A control plane that was started by a person, in the folder of its data directory."""

    folder: Path
    plane: Service

    def chats(self) -> set[str]:
        return {chat["id"] for chat in self.plane.get("/api/v0/chats")["chats"]}

    def chat(self, before: set[str]) -> Json:
        """Return the only chat that was added."""
        chats = self.plane.get("/api/v0/chats")["chats"]
        (found,) = (chat for chat in chats if chat["id"] not in before)
        return dict(found)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("world")
    arguments = ("up", "--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0")
    with service(folder / "plane.log", *arguments) as plane:
        yield World(folder, plane)


def test_a_running_control_plane_is_used_and_stays(world: World) -> None:
    plane, before = world.plane, world.chats()
    with spoken(RawStdio(world.folder)) as one:
        one.begin()
        found = one.call("process_list")
        assert found["content"][0]["text"] == "No process was started."
        chat = world.chat(before)
        assert (chat["title"], chat["archived"]) == ("MCP", False)
        assert one.process.stdin is not None
        one.process.stdin.close()
        assert one.process.wait(PATIENCE + 30) == 0
        assert plane.get(f"/api/v0/chats/{chat['id']}")["archived"]


def test_a_named_desktop_is_used(world: World) -> None:
    plane = world.plane

    def desktops() -> list[str]:
        return [row["id"] for row in plane.get("/api/v0/desktops")["desktops"]]

    before = desktops()
    answer = plane.http.post("/api/v0/desktops", json={}, timeout=PATIENCE + 60)
    name = answer.json()["id"]
    with spoken(RawStdio(world.folder, "--desktop", name)) as one:
        one.begin()
        looked = one.call("computer_look")
        assert [block["type"] for block in looked["content"]] == ["text", "image"]
        ran = one.call("execute", command="true")
        assert ran["content"][0]["text"].startswith("Exit code 0.")
        assert one.call("list_agents")["structuredContent"]["agents"] == []
        assert set(desktops()) - set(before) == {name}
    with spoken(RawStdio(world.folder, "--desktop", "nonsense")) as one:
        one.begin()
        assert one.call("computer_look")["isError"]


@pytest.mark.parametrize("era", [pytest.param("legacy", marks=pytest.mark.full), "auto"])
def test_the_client_of_the_sdk_works_on_stdio(tmp_path: Path, era: str) -> None:
    environment = {**os.environ, "DESKHAND_DATA_DIR": str(tmp_path / "data")}
    options: Sequence[str] = ("mcp", "--pictures", "off", "--tools", "computer,shell")
    server = StdioServerParameters(command=DESKHAND, args=list(options), env=environment)
    reports: list[str | None] = []

    async def report(progress: float, total: float | None, message: str | None) -> None:
        reports.append(message)

    async def scenario() -> None:
        async with Client(stdio_client(server), mode=era) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert "execute" in names
            assert "read_file" not in names
            slow = {"command": "sleep 6", "timeout": "20s"}
            await client.call_tool("execute", slow, progress_callback=report)
            assert reports
            found = await client.call_tool("computer_look", {})
            assert len(found.content) == 1

    asyncio.run(scenario())
    until(lambda: not (tmp_path / "data" / "run" / "plane.json").exists(), "the end of all")


def test_a_control_plane_serves_the_default_chat_of_a_token(world: World) -> None:
    plane, before = world.plane, world.chats()

    async def scenario() -> None:
        async with over_http(plane) as client:
            found = await client.call_tool("execute", {"command": "pwd"})
            assert not found.is_error, found
            looked = await client.call_tool("computer_look", {})
            assert isinstance(looked.content[1], types.ImageContent)
            default = plane.tool("list_agents")
            assert default["agents"] == []
            chat = world.chat(before)
            steps = plane.get(f"/api/v0/chats/{chat['id']}")["steps"]
            tools = [step["tool"] for step in steps]
            assert tools == ["execute", "computer_look", "list_agents"]
            assert "screenshot_data" not in json.dumps(steps)

    asyncio.run(scenario())


@pytest.mark.parametrize("command", ["desktop", "up"])
def test_services_load_the_library_with_the_first_request(tmp_path: Path, command: str) -> None:
    errors = tmp_path / "errors.log"
    where = ("--data-dir", str(tmp_path / "data")) if command == "up" else ()
    options = (command, *where, "--listen", "127.0.0.1:0")

    def loaded() -> bool:
        lines = errors.read_text().splitlines()
        return any(line.rpartition("|")[2].strip() == "mcp" for line in lines)

    async def scenario(found: Service) -> None:
        async with over_http(found) as client:
            assert (await client.list_tools()).tools

    # A desktop that is forked has imported most modules before.
    with service(errors, *options, environment=IMPORTS, program=(DESKHAND,)) as found:
        assert "deskhand.desktop.mcp.api" in errors.read_text()
        assert not loaded()
        asyncio.run(scenario(found))
        assert loaded()


MOVE: Json = {"actions": [{"action": "mouse_move", "coordinate": [300, 300]}]}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("computer_look", {}),
        # Each of these waits until the screen rests.
        pytest.param("computer_act", MOVE, marks=pytest.mark.full),
    ],
)
def test_the_memory_of_a_service_stays_flat_over_many_calls(
    tmp_path: Path, tool: str, arguments: Json
) -> None:
    def resident(pid: int) -> int:
        status = Path(f"/proc/{pid}/status").read_text()
        line = next(row for row in status.splitlines() if row.startswith("VmRSS"))
        return int(line.split()[1])

    async def scenario(desktop: Service, pid: int) -> None:
        async with over_http(desktop) as client:

            async def act(times: int) -> int:
                for _ in range(times):
                    found = await client.call_tool(tool, arguments)
                    assert len(found.content) == 2
                return resident(pid)

            before = await act(100)
            after = await act(200)
            # A picture that was kept by each call would be 200 times 25 KB and more.
            assert after - before < 4_000, (before, after)

    with service(tmp_path / "errors.log", "desktop", "--listen", "127.0.0.1:0") as desktop:
        keeper = desktop.ready["pid"]
        asyncio.run(scenario(desktop, _service_pid(keeper)))


def _service_pid(keeper: int) -> int:
    """The descendant of a keeper that uses most memory."""
    rows = subprocess.run(
        ["ps", "-e", "-o", "pid=,ppid=,rss=,comm="], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.splitlines()
    parents = {int(row.split()[0]): int(row.split()[1]) for row in rows}
    sizes = {
        int(row.split()[0]): int(row.split()[2])
        for row in rows
        if row.split()[3].startswith(("deskhand", "python"))
    }

    def below(pid: int) -> bool:
        while pid in parents:
            pid = parents[pid]
            if pid == keeper:
                return True
        return False

    return max((pid for pid in sizes if below(pid)), key=lambda pid: sizes[pid])
