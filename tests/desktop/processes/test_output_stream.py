import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from deskhand.desktop.processes.errors import NotRunning, TooManyOutputStreams
from deskhand.desktop.processes.output_stream import Streams
from deskhand.desktop.processes.process import Process
from deskhand.desktop.processes.spawn import Spawner, SpawnRequest
from tests.desktop.processes.service import LIMIT

ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


def play(command: str, folder: Path, scenario: Callable[[Process], Awaitable[None]]) -> None:
    async def with_process() -> None:
        spawner = Spawner()
        spawner.open()
        order = SpawnRequest(command, lambda: folder, ENVIRONMENT, stdin=True)
        process = Process(await spawner.spawn(order), lambda: None)
        try:
            async with asyncio.timeout(LIMIT):
                await scenario(process)
        finally:
            with suppress(NotRunning):
                process.signal(signal.SIGKILL)
            await process.wait_exit()
            process.close()
            await asyncio.to_thread(spawner.close)

    asyncio.run(with_process())


def test_a_quiet_stream_is_kept_alive(tmp_path: Path) -> None:
    async def scenario(process: Process) -> None:
        events = Streams(heartbeat=0.0).events(process, 0, dict)
        assert (await anext(events)).startswith(b":")
        await events.aclose()

    play("read x", tmp_path, scenario)


def test_a_character_is_never_cut_in_two(tmp_path: Path) -> None:
    async def scenario(process: Process) -> None:
        events = Streams().events(process, 0, lambda: {"exit_code": 0})
        assert '"a"' in (await anext(events)).decode()
        await process.write(b"\n")
        await process.wait_exit()
        assert "\u20ac" in (await anext(events)).decode()
        assert b"event: exit" in await anext(events)

    play(r"printf 'a\342\202'; read x; printf '\254'", tmp_path, scenario)


def test_there_are_only_so_many_streams(tmp_path: Path) -> None:
    async def scenario(process: Process) -> None:
        streams = Streams(most=1)
        streams.check()
        events = streams.events(process, 0, dict)
        await anext(events)
        with pytest.raises(TooManyOutputStreams, match="At most 1"):
            streams.check()
        await events.aclose()
        streams.check()

    play("echo x; read x", tmp_path, scenario)


def test_all_streams_end_with_the_service(tmp_path: Path) -> None:
    async def scenario(process: Process) -> None:
        streams = Streams()
        events = streams.events(process, 0, dict)
        waiting = asyncio.ensure_future(anext(events, None))
        await asyncio.sleep(0)
        streams.end()
        assert await waiting is None

    play("read x", tmp_path, scenario)
