"""How fast bytes pass through the relay, beside websockify: `python -m bench.relay [MIB]`.

Both carry the same stream from a unix or TCP socket to one WebSocket client on loopback, in turns.
websockify is a tool to compare with, no dependency: without it only the relay is measured.
"""

import asyncio
import json
import shutil
import socket
import sys
import time
from pathlib import Path

import psutil
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.vncbridge.fakes import Service, rfb_server, short_folder
from vncbridge.relay import UnixUpstream, router
from vncbridge.seats import Watchers

MIB = 1024 * 1024
BLOCK = bytes(range(256)) * 256


async def flood(writer: asyncio.StreamWriter, size: int) -> None:
    """Send so many bytes as fast as they are taken."""
    for _ in range(size // len(BLOCK)):
        writer.write(BLOCK)
        await writer.drain()
    writer.close()


async def taken(address: str) -> tuple[float, int]:
    """Return seconds and bytes of a whole stream."""
    began, count = time.monotonic(), 0
    async with connect(address, compression=None, max_size=None, ping_interval=None) as client:
        try:
            while True:
                count += len(await client.recv())
        except ConnectionClosed:
            return time.monotonic() - began, count


async def through_relay(size: int) -> float:
    """Return MiB a second through ours, in this process together with source and client."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await flood(writer, size)

    with short_folder() as folder:
        watchers = Watchers()
        async with (
            rfb_server(folder / "rfb", serve) as path,
            Service(router(UnixUpstream(path), lambda: False, watchers)) as service,
        ):
            seconds, count = await taken(service.stream)
    return count / MIB / seconds


async def through_websockify(size: int) -> tuple[float, float]:
    """Return MiB a second, and the memory in MiB of websockify's processes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await flood(writer, size)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    target = server.sockets[0].getsockname()[1]
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    program = str(Path(sys.executable).with_name("websockify"))
    process = await asyncio.create_subprocess_exec(
        *(program, f"127.0.0.1:{port}", f"127.0.0.1:{target}"),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await listening(port)
        seconds, count = await taken(f"ws://127.0.0.1:{port}/")
        whole = [psutil.Process(process.pid), *psutil.Process(process.pid).children()]
        memory = sum(one.memory_info().rss for one in whole) / MIB
    finally:
        process.terminate()
        await process.wait()
        server.close()
    return count / MIB / seconds, memory


async def listening(port: int) -> None:
    """Wait until somebody listens there, ten seconds at most."""
    async with asyncio.timeout(10):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return


async def main(size: int) -> None:
    """Measure and print one JSON line."""
    found: dict[str, float] = {"mib": size / MIB}
    found["relay_mib_s"] = round(await through_relay(size), 1)
    if shutil.which("websockify", path=str(Path(sys.executable).parent)):
        speed, memory = await through_websockify(size)
        found |= {"websockify_mib_s": round(speed, 1), "websockify_rss_mib": round(memory, 1)}
        found["ratio"] = round(found["relay_mib_s"] / speed, 2)
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main((int(sys.argv[1]) if len(sys.argv) > 1 else 128) * MIB))
