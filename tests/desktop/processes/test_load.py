"""Many at once. How long it takes and how the loop stalls: bench/processes.py."""

import asyncio
from pathlib import Path

from deskhand.desktop.processes.registry import ProcessSettings, Registry
from deskhand.desktop.processes.requests import OutputRequest, StartRequest
from tests.desktop.processes.service import LIMIT, FakeSurroundings

MANY = 100


def test_many_processes_and_waits_at_once_are_kept_apart(tmp_path: Path) -> None:
    async def one(registry: Registry, number: int) -> None:
        process_id, _ = await registry.start(StartRequest(f"seq {number} {number + 99}"), None)
        record = registry.find(process_id, None)
        await registry.wait(record, OutputRequest("exit"))
        lines = record.process.buffer.raw().split()
        assert (int(lines[0]), int(lines[-1])) == (number, number + 99)

    async def scene() -> None:
        settings = ProcessSettings(close_grace=0.2, output_folder=tmp_path / "out")
        async with Registry(FakeSurroundings(tmp_path), settings) as registry:
            await asyncio.gather(*(one(registry, number) for number in range(MANY)))
            assert registry.listing(None).total == MANY

    asyncio.run(asyncio.wait_for(scene(), LIMIT * 3))


def test_output_without_end_stays_within_its_bounds(tmp_path: Path) -> None:
    wanted = 200_000_000

    async def scene() -> None:
        async with Registry(FakeSurroundings(tmp_path)) as registry:
            command = f"yes | head -c {wanted}"
            process_id, _ = await registry.start(StartRequest(command), None)
            record = registry.find(process_id, None)
            await registry.wait(record, OutputRequest("exit"))
            assert record.process.buffer.total == wanted
            assert record.process.buffer.stored <= 32_768

    asyncio.run(asyncio.wait_for(scene(), LIMIT * 3))
