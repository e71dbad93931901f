"""Starts one command in a registry and stays; run as a process of its own, to be killed."""

import asyncio
import sys
from pathlib import Path

from deskhand.desktop.processes.registry import Registry
from deskhand.desktop.processes.requests import StartRequest
from tests.desktop.processes.service import FakeSurroundings


async def main(mark: str, home: str) -> None:
    async with Registry(FakeSurroundings(Path(home))) as registry:
        await registry.start(StartRequest("exec sleep 1000", env=(("MARK", mark),)), None)
        sys.stdout.write("started\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
