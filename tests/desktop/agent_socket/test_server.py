"""The server on a real socket, with fake services."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deskhand.desktop.agent_socket.ancestry import CommandRoot, ProcessLink, RequestOrigin
from deskhand.desktop.agent_socket.binding import AGENT_SOCKET, MODE, agent_socket
from deskhand.desktop.agent_socket.messages import AgentRequest, ProgramWanted, StatusAsked
from deskhand.desktop.agent_socket.server import (
    MOST_CONNECTIONS,
    AgentAnswer,
    AgentSocketServer,
    LaunchedProgram,
)
from deskhand.desktop.errors import HeldByChat
from deskhand.desktop.isolation.account import Account
from deskhand.desktop.isolation.desktop_user import DesktopUser
from deskhand.desktop.programs.process_tree import start_ticks
from deskhand.desktop.tool_calls.caller import CallingChat

LIMIT = 20.0
OWN = Account.of_one_user(DesktopUser("me", os.geteuid(), os.getegid()), "shared")
STATUS = b'{"do": "status"}\n'
BROWSER = b'{"do": "launch", "name": "browser"}\n'


@dataclass
class FakeServices:
    """Services whose programs end on request."""

    exited: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    origins: list[RequestOrigin] = field(default_factory=list)
    refusing: bool = False
    panel: tuple[int, ...] = ()
    starting: bool = False
    """Whether the command that asks is not known yet."""

    async def starts_settled(self) -> None:
        await asyncio.sleep(0)
        self.starting = False

    def commands(self) -> Sequence[CommandRoot]:
        if self.starting:
            return []
        own = start_ticks(os.getpid())
        assert own is not None
        return [CommandRoot(ProcessLink(os.getpid(), own), CallingChat("a"))]

    def launchers(self) -> Collection[int]:
        return self.panel

    async def answer(self, request: AgentRequest, origin: RequestOrigin) -> AgentAnswer:
        self.origins.append(origin)
        if self.refusing:
            raise HeldByChat("b", 3.0)
        if isinstance(request, StatusAsked):
            return AgentAnswer({"chat_id": origin.chat_id})
        assert request == ProgramWanted("browser")
        return AgentAnswer({"process_id": "p"}, LaunchedProgram(self._exit_code, self._end))

    async def _exit_code(self) -> int:
        await self.exited.wait()
        return 7

    async def _end(self) -> None:
        self.ended.set()


Connect = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


def play(
    folder: Path,
    scenario: Callable[[FakeServices, Connect], Awaitable[None]],
    seconds: float = LIMIT,
    browser_user: int | None = None,
) -> None:
    async def scene() -> None:
        (folder / "run").mkdir()
        services = FakeServices()
        writers: list[asyncio.StreamWriter] = []

        async def connect() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            reader, writer = await asyncio.open_unix_connection(folder / AGENT_SOCKET)
            writers.append(writer)
            return reader, writer

        with agent_socket(folder, OWN) as bound:
            async with asyncio.timeout(LIMIT):
                options = {"request_seconds": seconds, "browser_user": browser_user}
                async with AgentSocketServer(bound, services, **options):  # type: ignore[arg-type]
                    assert (folder / AGENT_SOCKET).stat().st_mode & 0o777 == MODE
                    await scenario(services, connect)
        for writer in writers:
            writer.close()
        assert not (folder / AGENT_SOCKET).exists()

    asyncio.run(scene())


async def answer(reader: asyncio.StreamReader) -> Any:
    return json.loads(await reader.readline())


def test_a_request_is_answered_for_the_chat_of_its_process(tmp_path: Path) -> None:
    async def scenario(services: FakeServices, connect: Connect) -> None:
        reader, writer = await connect()
        for byte in STATUS:
            writer.write(bytes([byte]))
            await writer.drain()
        assert await answer(reader) == {"chat_id": "a"}
        assert await reader.read() == b""
        writer.close()

    play(tmp_path, scenario)


def test_a_command_may_ask_before_its_start_is_known(tmp_path: Path) -> None:
    async def scenario(services: FakeServices, connect: Connect) -> None:
        services.starting = True
        reader, writer = await connect()
        writer.write(STATUS)
        assert await answer(reader) == {"chat_id": "a"}
        writer.close()

    play(tmp_path, scenario)


def test_the_end_of_a_program_is_reported(tmp_path: Path) -> None:
    async def scenario(services: FakeServices, connect: Connect) -> None:
        reader, writer = await connect()
        writer.write(BROWSER)
        assert await answer(reader) == {"process_id": "p"}
        services.exited.set()
        assert await answer(reader) == {"exit_code": 7}
        assert not services.ended.is_set()
        writer.close()

    play(tmp_path, scenario)


def test_a_client_that_goes_ends_its_program(tmp_path: Path) -> None:
    async def scenario(services: FakeServices, connect: Connect) -> None:
        reader, writer = await connect()
        writer.write(BROWSER)
        assert await answer(reader) == {"process_id": "p"}
        writer.close()
        await services.ended.wait()

    play(tmp_path, scenario)


def test_a_program_outlives_the_server(tmp_path: Path) -> None:
    seen: list[FakeServices] = []

    async def scenario(services: FakeServices, connect: Connect) -> None:
        seen.append(services)
        reader, writer = await connect()
        writer.write(BROWSER)
        assert await answer(reader) == {"process_id": "p"}

    play(tmp_path, scenario)
    assert not seen[0].ended.is_set()


def test_errors_of_the_desktop_are_answers(tmp_path: Path) -> None:
    async def scenario(services: FakeServices, connect: Connect) -> None:
        services.refusing = True
        reader, writer = await connect()
        writer.write(STATUS)
        error = (await answer(reader))["error"]
        assert error["code"] == HeldByChat("b", 3.0).code
        assert error["message"]
        reader, writer = await connect()
        writer.write(b"no request\n")
        assert (await answer(reader))["error"]["code"] == "malformed"
        reader, writer = await connect()
        writer.write(b"half a line")
        writer.write_eof()
        assert (await answer(reader))["error"]["code"] == "malformed"

    play(tmp_path, scenario)


def test_a_silent_client_is_sent_away(tmp_path: Path) -> None:
    async def scenario(services: FakeServices, connect: Connect) -> None:
        reader, _ = await connect()
        assert (await answer(reader))["error"]["code"] == "timeout"
        assert await reader.read() == b""

    play(tmp_path, scenario, seconds=0.05)


def test_too_many_connections_are_refused_at_once(tmp_path: Path) -> None:
    async def scenario(services: FakeServices, connect: Connect) -> None:
        opened = [await connect() for _ in range(MOST_CONNECTIONS)]
        reader, writer = await connect()
        assert (await answer(reader))["error"]["code"] == "busy"
        assert await reader.read() == b""
        # A request on one that is open is still answered, and makes room.
        opened[0][1].write(STATUS)
        assert await answer(opened[0][0]) == {"chat_id": "a"}
        assert await opened[0][0].read() == b""
        reader, writer = await connect()
        writer.write(STATUS)
        assert await answer(reader) == {"chat_id": "a"}
        opened.append(await connect())
        # A program of the panel is served all the same.
        services.panel = (os.getppid(),)
        reader, writer = await connect()
        writer.write(STATUS)
        assert await answer(reader) == {"chat_id": "a"}

    play(tmp_path, scenario)


def test_the_browsers_user_belongs_to_no_chat(tmp_path: Path) -> None:
    async def scenario(services: FakeServices, connect: Connect) -> None:
        reader, writer = await connect()
        writer.write(STATUS)
        assert await answer(reader) == {"chat_id": ""}
        assert services.origins == [RequestOrigin(browser=True)]

    play(tmp_path, scenario, browser_user=os.geteuid())
