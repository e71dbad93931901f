import asyncio
import socket
import subprocess
from collections.abc import Awaitable, Callable

import pytest

from deskhand.tools.forward.errors import PortInUse
from deskhand.tools.forward.listener import BACKLOG, HOST, bound_port, listening
from deskhand.vncbridge.server.unix_socket import bound_path
from tests.vncbridge.fakes import short_folder

GREETING = b"served"
OTHER_USER = 65534


async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(GREETING)
    await writer.drain()


def while_listening(bound: socket.socket, scenario: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        async with asyncio.timeout(20), listening(bound, greet):
            await scenario()

    asyncio.run(run())


def test_a_program_of_the_same_user_is_served() -> None:
    bound = bound_port(0, 0)
    port = bound.getsockname()[1]

    async def scenario() -> None:
        reader, writer = await asyncio.open_connection(HOST, port)
        assert await reader.read() == GREETING
        writer.close()

    while_listening(bound, scenario)


@pytest.mark.root
def test_a_program_of_another_user_is_not_served() -> None:
    bound = bound_port(0, 0)
    port = bound.getsockname()[1]
    code = (
        "import socket, sys\n"
        f"peer = socket.create_connection(('{HOST}', {port}), 10)\n"
        "sys.stdout.buffer.write(peer.recv(100))\n"
    )

    async def scenario() -> None:
        program = await asyncio.create_subprocess_exec(
            *("/usr/bin/python3", "-I", "-S", "-c", code),
            stdout=subprocess.PIPE,
            user=OTHER_USER,
            group=OTHER_USER,
        )
        output, _ = await program.communicate()
        assert (program.returncode, output) == (0, b"")

    while_listening(bound, scenario)


def test_the_next_free_port_is_used_unless_one_is_requested() -> None:
    with bound_port(0, 0) as first:
        taken = first.getsockname()[1]
        with bound_port(None, taken) as second:
            assert second.getsockname()[1] > taken
        with pytest.raises(PortInUse) as caught:
            bound_port(taken, 0)
        assert str(taken) in str(caught.value)


def test_a_unix_socket_is_private_and_removed_at_the_end() -> None:
    with short_folder() as folder:
        path = folder / "vnc"
        bound = bound_path(path, BACKLOG)
        assert path.stat().st_mode & 0o777 == 0o600

        async def scenario() -> None:
            reader, writer = await asyncio.open_unix_connection(path)
            assert await reader.read() == GREETING
            writer.close()

        while_listening(bound, scenario)
        assert not path.exists()
