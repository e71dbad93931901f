import asyncio
from collections.abc import Awaitable, Callable

import pytest

from deskhand.tools.forward.http_forward import HttpForward
from deskhand.tools.forward.listener import HOST, bound_port, listening
from deskhand.tools.forward.request_head import LONGEST_HEAD, DialectRoute
from deskhand.tools.forward.upstream import Upstream

ROUTE = DialectRoute("/as/osworld", "localhost", "dh_1")
HEAD = b"POST /cmd HTTP/1.1\r\nHost: localhost\r\n"

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def through(service: Serve, scenario: Callable[[int], Awaitable[None]]) -> None:
    """Run a scenario with the port of a forward to a service."""

    async def run() -> None:
        server = await asyncio.start_server(service, HOST, 0)
        address = f"http://{HOST}:{server.sockets[0].getsockname()[1]}"
        bound = bound_port(0, 0)
        async with (
            asyncio.timeout(20),
            server,
            listening(bound, HttpForward(Upstream(address, "dh_1"), ROUTE).serve),
        ):
            await scenario(bound.getsockname()[1])

    asyncio.run(run())


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer with the request's head and ten bytes of its body, and close."""
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + await reader.readuntil(b"\r\n\r\n"))
    writer.write(await reader.readexactly(10))
    await writer.drain()
    writer.close()


def test_head_and_body_reach_the_service_byte_by_byte() -> None:
    async def scenario(port: int) -> None:
        reader, writer = await asyncio.open_connection(HOST, port)
        for byte in HEAD + b"Content-Length: 10\r\n\r\n0123456789":
            writer.write(bytes([byte]))
            await writer.drain()
        answer = await reader.read()
        assert b"POST /as/osworld/cmd HTTP/1.1\r\n" in answer
        assert b"Authorization: Bearer dh_1\r\n" in answer
        assert answer.endswith(b"0123456789")
        writer.close()

    through(echo, scenario)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", b"421"),
        (HEAD + b"Origin: http://localhost\r\n\r\n", b"403"),
        (HEAD + b"A: " + b"x" * (LONGEST_HEAD + 1) + b"\r\n\r\n", b"431"),
    ],
)
def test_a_refused_request_does_not_reach_the_service(sent: bytes, status: bytes) -> None:
    async def scenario(port: int) -> None:
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(sent)
        assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 " + status)
        writer.close()

    async def unreached(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 reached\r\n")
        writer.close()

    through(unreached, scenario)


def test_a_client_that_leaves_ends_the_request_at_the_service() -> None:
    arrived, gone = asyncio.Event(), asyncio.Event()

    async def waiting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        arrived.set()
        await reader.read()
        gone.set()
        writer.close()

    async def scenario(port: int) -> None:
        _, writer = await asyncio.open_connection(HOST, port)
        writer.write(HEAD + b"\r\n")
        await arrived.wait()
        writer.close()
        await gone.wait()

    through(waiting, scenario)
