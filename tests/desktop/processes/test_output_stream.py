import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from deskhand.desktop.processes.errors import NotRunning
from deskhand.desktop.processes.output_stream import output_events
from deskhand.desktop.processes.process import Process
from deskhand.desktop.processes.spawn import Spawner, SpawnRequest
from tests.desktop.processes.service import LIMIT

ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


def play(command: str, folder: Path, scenario: Callable[[Process], Awaitable[None]]) -> None:
    async def with_process() -> None:
        spawner = Spawner()
        spawner.open()
        order = SpawnRequest(command, [folder], ENVIRONMENT, stdin=True)
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


def test_a_character_is_never_cut_in_two(tmp_path: Path) -> None:
    async def scenario(process: Process) -> None:
        events = output_events(process, 0, lambda: {"exit_code": 0})
        assert '"a"' in (await anext(events)).decode()
        await process.write(b"\n")
        await process.wait_exit()
        assert "\u20ac" in (await anext(events)).decode()
        assert b"event: exit" in await anext(events)

    play(r"printf 'a\342\202'; read x; printf '\254'", tmp_path, scenario)
