import asyncio
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import pytest

from deskhand.desktop.processes.errors import StartFailed
from deskhand.desktop.processes.spawn import Spawner, SpawnRequest
from deskhand.desktop.programs import process_tree as groups
from tests.desktop.processes.service import LIMIT

ROOT = Path(__file__).parents[3]


def test_a_command_dies_with_a_service_that_is_killed(tmp_path: Path) -> None:
    mark = str(uuid4())
    program = [sys.executable, "-B", "-m", "tests.desktop.processes.host"]
    with subprocess.Popen(
        [*program, mark, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == "started\n"
        family = groups.Family(markers=(f"MARK={mark}".encode(),))
        assert groups.alive(family)
        host.kill()
        host.wait(LIMIT)
        assert groups.wait_gone(family, time.monotonic() + LIMIT, time.monotonic)


def test_a_wish_that_was_withdrawn_starts_nothing(tmp_path: Path) -> None:
    started = []

    def copy() -> None:
        started.append(1)

    async def scenario() -> None:
        spawner = Spawner()
        order = SpawnRequest("true", [tmp_path], {"PATH": "/usr/bin:/bin"}, copy=copy)
        waiting = asyncio.create_task(spawner.spawn(order))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        spawner.open()
        await asyncio.to_thread(spawner.close)

    asyncio.run(scenario())
    assert not started


def test_a_start_is_settled_when_its_caller_has_it(tmp_path: Path) -> None:
    wrong = {"PATH": "/usr/bin:/bin", "A": "nul \0 inside"}
    seen: list[str] = []

    async def start(spawner: Spawner) -> None:
        with pytest.raises(StartFailed):
            await spawner.spawn(SpawnRequest("true", [tmp_path], wrong))
        seen.append("caller")

    async def scenario() -> None:
        spawner = Spawner()
        await spawner.settled()
        starting = asyncio.create_task(start(spawner))
        await asyncio.sleep(0)
        settling = asyncio.create_task(spawner.settled())
        await asyncio.sleep(0)
        spawner.open()
        await settling
        seen.append("settled")
        await starting
        await asyncio.to_thread(spawner.close)

    asyncio.run(scenario())
    assert seen == ["caller", "settled"]


def test_each_error_of_the_system_is_reported(tmp_path: Path) -> None:
    async def scenario() -> None:
        spawner = Spawner()
        spawner.open()
        try:
            wrong = {"PATH": "/usr/bin:/bin", "A": "nul \0 inside"}
            with pytest.raises(StartFailed):
                await spawner.spawn(SpawnRequest("true", [tmp_path], wrong))
        finally:
            await asyncio.to_thread(spawner.close)

    asyncio.run(scenario())


def test_a_spawner_that_was_never_opened_can_be_closed() -> None:
    Spawner().close()
