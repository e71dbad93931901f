"""Compare `deskhand forward vnc` with the bare relay, in turns: ``python -m bench.forward``.

Measures the throughput of one viewer, and of the real command in front of a real desktop: the time
until it listens, and its memory while a viewer is connected.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import psutil

from bench.relay_ways import ClientConnection, flood, ours, source
from bench.tables import save
from deskhand.desktop.client.http import DesktopClient
from deskhand.tools.forward.listener import bound_port, listening
from deskhand.tools.forward.upstream import Upstream
from deskhand.tools.forward.vnc_forward import VncForward
from tests.system.services import DESKHAND, Service, tidy
from tests.vncbridge.fakes import short_folder

MIB = 1024 * 1024
SIZE = 256 * MIB
TURNS = 5
STARTS = 5


@contextmanager
def plain(port: int) -> Iterator[ClientConnection]:
    """Connect to a port that carries RFB without frames."""
    with socket.create_connection(("127.0.0.1", port)) as sock:
        yield ClientConnection(sock, framed=False)


@contextmanager
def forward_of(port: int) -> Iterator[int]:
    """Run the forward alone in its process, in front of a relay; yield its port."""
    command = (sys.executable, "-m", "bench.forward", str(port))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            yield int(child.stdout.readline())
        finally:
            child.terminate()


async def serve(port: int) -> None:
    """Forward a free port to a relay until the process is ended."""
    bound = bound_port(0, 0)
    address = f"http://127.0.0.1:{port}"
    async with DesktopClient(address, "none") as client:
        forward = VncForward(Upstream(address, "none"), client, "/api/v0/desktop", "bench", None)
        async with listening(bound, forward.serve):
            print(bound.getsockname()[1], flush=True)
            await asyncio.Event().wait()


def throughput() -> dict[str, float]:
    """Return the MiB a second of one viewer, with the forward and without."""
    taken: dict[str, list[float]] = {"relay": [], "forward": []}
    with (
        short_folder() as folder,
        source(folder / "rfb", flood(SIZE)) as path,
        ours(path) as relay,
    ):
        assert relay.port is not None
        with forward_of(relay.port) as port:
            for _ in range(TURNS):
                for name, opened in (("relay", relay.connect()), ("forward", plain(port))):
                    with opened as connection:
                        began = time.perf_counter()
                        connection.take(SIZE)
                        taken[name].append(SIZE / MIB / (time.perf_counter() - began))
    found = {name: round(median(each)) for name, each in taken.items()}
    return {**found, "ratio": round(found["forward"] / found["relay"], 2)}


def start(desktop: Service) -> tuple[float, float]:
    """Return the milliseconds until the command listens, and its MiB (RSS) with a viewer."""
    began = time.perf_counter()
    with subprocess.Popen(
        [DESKHAND, "forward", "vnc", "--port", "0", "--url", desktop.url, "--json"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "DESKHAND_TOKEN": desktop.token},
    ) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        spent = (time.perf_counter() - began) * 1000
        with plain(int(ready["listen"].split(":")[1])) as viewer:
            viewer.read(12)
            memory = psutil.Process(process.pid).memory_full_info().rss / MIB
        process.terminate()
    return spent, memory


def main() -> None:
    speed = throughput()
    print(f"MiB/s of one viewer: {speed}")
    with TemporaryDirectory() as folder, tidy(Path(folder) / "errors.log") as desktop:
        starts = [start(desktop) for _ in range(STARTS)]
    found = {
        "throughput_mib_s": speed,
        "ready_ms": round(median(spent for spent, _ in starts)),
        "rss_mib": round(max(memory for _, memory in starts), 1),
    }
    print(f"ready after {found['ready_ms']} ms, {found['rss_mib']} MiB")
    save("forward", found)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(serve(int(sys.argv[1])))
    else:
        main()
