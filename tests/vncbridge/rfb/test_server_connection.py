import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from deskhand.vncbridge.errors import UpstreamUnavailable
from deskhand.vncbridge.rfb.server_connection import ServerConnection
from tests.vncbridge.fakes import LIMIT, Behaviour, rfb_server, short_folder

MiB = 1024 * 1024


def connected(behaviour: Behaviour, scenario: Callable[[ServerConnection], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        with short_folder() as folder:
            async with asyncio.timeout(LIMIT), rfb_server(folder / "rfb", behaviour) as path:
                return await scenario(await ServerConnection.to(path))

    return asyncio.run(run())


def test_a_missing_listener_is_reported() -> None:
    async def scenario() -> None:
        with short_folder() as folder:
            await ServerConnection.to(folder / "rfb")

    with pytest.raises(UpstreamUnavailable, match="rfb: No such file or directory"):
        asyncio.run(scenario())


def test_everything_is_read_in_order_until_the_end() -> None:
    whole = bytes(range(256)) * 8192

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(whole)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async def scenario(line: ServerConnection) -> tuple[bytes, bytes]:
        found = b""
        while came := await line.read():
            found += came
        return found, await line.read()

    assert connected(speak, scenario) == (whole, b"")


def test_little_is_read_ahead() -> None:
    taken = 0
    full = asyncio.Event()

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal taken
        writer.transport.set_write_buffer_limits(high=0)
        while True:
            writer.write(bytes(65536))
            if writer.transport.get_write_buffer_size():
                full.set()
            await writer.drain()
            taken += 65536

    async def scenario(line: ServerConnection) -> None:
        await line.read()
        await full.wait()
        assert line.held <= 256 * 1024
        assert taken < 4 * MiB
        await line.close()

    connected(flood, scenario)


def test_what_is_written_arrives_and_waits_for_a_server_that_is_slow() -> None:
    async def count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard = 0
        while data := await reader.read(65536):
            heard += len(data)
            if heard == 4 * MiB:
                writer.write(b"all")

    async def scenario(line: ServerConnection) -> bytes:
        for _ in range(4):
            line.write(bytes(MiB))
            await line.drain()
        heard = await line.read()
        await line.close()
        return heard

    assert connected(count, scenario) == b"all"


def test_a_server_that_reads_no_more_is_hung_up_on() -> None:
    async def sit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async def scenario(line: ServerConnection) -> None:
        line.write(bytes(4 * MiB))
        await line.close()
        assert await line.read() == b""

    connected(sit, scenario)


def test_more_than_the_servers_queue_takes_are_connected_in_turn() -> None:
    async def scenario() -> list[bytes]:
        with short_folder() as folder, socket.socket(socket.AF_UNIX) as door:
            door.bind(str(folder / "rfb"))
            door.listen(0)

            def greet_all() -> None:
                for _ in range(8):
                    end, _ = door.accept()
                    with end:
                        end.sendall(b"hello")

            async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as group:
                coming = [group.create_task(ServerConnection.to(folder / "rfb")) for _ in range(8)]
                await asyncio.sleep(0)
                group.create_task(asyncio.to_thread(greet_all))
            found = [await line.result().read() for line in coming]
            for line in coming:
                await line.result().close()
            return found

    assert asyncio.run(scenario()) == 8 * [b"hello"]
