"""Measure the process core under load: ``python -m bench.processes [COUNT]``.

Prints how long the event loop stalls while COUNT commands start, write and end at once, how many
starts a second there are, what endless output costs, and the throughput of the output buffer.
"""

import asyncio
import gc
import resource
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from deskhand.desktop.processes.head_tail import HeadTailBuffer
from deskhand.desktop.processes.registry import ProcessSettings, Registry
from deskhand.desktop.processes.requests import OutputRequest, StartRequest

TICK = 0.001
GIB = 1 << 30


class Here:
    """The plainest surroundings."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def environment(self) -> dict[str, str]:
        """Return the environment from which a command starts."""
        return {"PATH": "/usr/bin:/bin", "HOME": str(self._home)}

    def workdir(self) -> Path | None:
        """Return no directory: the process core then uses its default."""
        return None


class Stalls:
    """Delays of a task that sleeps a millisecond at a time.

    The wall clock also contains delays by other processes. Therefore the CPU time of the loop's own
    thread is measured beside it.
    """

    def __init__(self) -> None:
        self.late: list[float] = []
        self.worked: list[float] = []

    async def measure(self) -> None:
        """Measure until cancelled."""
        while True:
            began, worked = time.perf_counter(), time.thread_time()
            await asyncio.sleep(TICK)
            self.late.append(time.perf_counter() - began - TICK)
            self.worked.append(time.thread_time() - worked)

    def __str__(self) -> str:
        return f"stall {_worst(self.late)}; own work {_worst(self.worked)}"


def _worst(seconds: list[float]) -> str:
    ordered = sorted(seconds) or [0.0]
    p99 = ordered[min(int(len(ordered) * 0.99), len(ordered) - 1)]
    return f"p99 {p99 * 1000:.1f} ms, worst {ordered[-1] * 1000:.1f} ms"


@asynccontextmanager
async def measured(what: str) -> AsyncIterator[None]:
    """Print the duration of the body, and the stalls of the loop during it."""
    stalls = Stalls()
    task = asyncio.create_task(stalls.measure())
    began = time.perf_counter()
    try:
        yield
    finally:
        took = time.perf_counter() - began
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        print(f"{what}: {took:.2f} s, {stalls}")


async def load(count: int, home: Path) -> None:
    """Run ``count`` commands at once, with as many waits, and end as many."""
    settings = ProcessSettings(keep_exited=count, output_folder=home / "out")
    registry = Registry(Here(home), settings)
    async with registry:
        async with measured(f"{count} starts"):
            ids = await _started(registry, "seq 1 2000; exit 3", count)
        async with measured(f"{count} waits"):
            await asyncio.gather(*(_ended(registry, one) for one in ids))
        async with measured(f"{count} starts of servers"):
            await _started(registry, "exec sleep 1000", count)
        closing = measured(f"close of {count}")
        await closing.__aenter__()
        await registry.close()
        await closing.__aexit__(None, None, None)


async def endless(home: Path, wanted: int = 2 * GIB) -> None:
    """Read what ``yes`` writes."""
    async with Registry(Here(home)) as registry:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        async with measured(f"{wanted / GIB:.1f} GiB of yes"):
            process_id, _ = await registry.start(StartRequest(f"yes | head -c {wanted}"), None)
            await _ended(registry, process_id)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(f"memory grew by {grown} KiB")


def buffer(wanted: int = GIB) -> None:
    """Put bytes through the output buffer."""
    taken = HeadTailBuffer()
    piece = b"a line of output that is some sixty bytes long, like many\n" * 1100
    began = time.perf_counter()
    while taken.total < wanted:
        taken.write(piece)
    took = time.perf_counter() - began
    print(f"HeadTailBuffer: {wanted / took / 1e6:.0f} MB/s")


async def _started(registry: Registry, command: str, count: int) -> list[str]:
    started = (registry.start(StartRequest(command), None) for _ in range(count))
    return [process_id for process_id, _ in await asyncio.gather(*started)]


async def _ended(registry: Registry, process_id: str) -> None:
    await registry.wait(registry.find(process_id, None), OutputRequest("exit"))


def main() -> None:
    """Print one line a measurement."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    # The services freeze the heap after their start too: without it the collector adds stalls.
    gc.freeze()
    with tempfile.TemporaryDirectory() as folder:
        buffer()
        asyncio.run(load(count, Path(folder)))
        asyncio.run(endless(Path(folder)))


if __name__ == "__main__":
    main()
