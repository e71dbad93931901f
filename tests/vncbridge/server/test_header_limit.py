import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
from fastapi import FastAPI, Request

from deskhand.vncbridge.server.header_limit import LONGEST_HEAD
from deskhand.vncbridge.server.server import Address, Serving, listening

LIMIT = 20.0
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def application() -> FastAPI:
    app = FastAPI()

    @app.post("/length")
    async def length(request: Request) -> int:
        return len(await request.body())

    @app.post("/fields")
    async def fields(request: Request) -> list[str]:
        await request.body()
        return [name.decode() for name, _ in request.scope["headers"]]

    return app


def served(talk: Talk) -> None:
    """Let a scene talk over one connection."""

    async def scene() -> None:
        with listening(Address("127.0.0.1", 0)) as (bound, address):
            server = Serving(application())
            serving = asyncio.create_task(server.run_until_asked(bound))
            reader, writer = await asyncio.open_connection(address.host, address.port)
            try:
                async with asyncio.timeout(LIMIT):
                    await talk(reader, writer)
            finally:
                writer.close()
                server.ask_to_end()
                await serving

    asyncio.run(scene())


def request(body: bytes, headers: bytes = b"") -> bytes:
    length = str(len(body)).encode()
    head = b"POST /length HTTP/1.1\r\nHost: here\r\n" + headers
    return head + b"Content-Length: " + length + b"\r\n\r\n" + body


async def answer(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """Return the status line and the body."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    (length,) = [line.split(b":")[1] for line in lines if line.startswith(b"content-length")]
    return lines[0], await reader.readexactly(int(length))


def test_a_head_that_does_not_end_is_refused() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answering = asyncio.create_task(reader.read())
        writer.write(b"POST /length HTTP/1.1\r\nHost: here\r\nX-Long: ")
        with suppress(ConnectionError):
            while not answering.done():
                writer.write(b"x" * 8192)
                await writer.drain()
                await asyncio.sleep(0)
        (said,) = await asyncio.gather(answering, return_exceptions=True)
        # What was sent and not read any more may have taken the answer with it.
        if isinstance(said, bytes) and said:
            assert b" 400 " in said
            assert str(LONGEST_HEAD).encode() in said

    served(talk)


def test_a_long_body_and_many_requests_in_a_row_are_no_long_head() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        body = b"b" * (3 * LONGEST_HEAD)
        for _ in range(3):
            writer.write(request(body) + request(b"next", b"X-Half: " + b"h" * 60_000 + b"\r\n"))
            assert (await answer(reader))[1] == str(len(body)).encode()
            assert (await answer(reader))[1] == b"4"

    served(talk)


def test_a_request_that_comes_byte_by_byte_is_answered() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.set_write_buffer_limits(high=0)
        for byte in request(b"slow"):
            writer.write(bytes([byte]))
            await writer.drain()
        assert (await answer(reader))[1] == b"4"

    served(talk)


def test_what_is_no_http_is_refused() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"RFB 003.008\n\r\n\r\n")
        status, _ = await answer(reader)
        assert b" 400 " in status

    served(talk)


def chunked(path: str, trailer: bytes, body: bytes = b"ab") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    return head + f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n" + trailer + b"\r\n"


def test_fields_of_a_trailer_are_no_headers() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        trailer = b"Authorization: Bearer stolen\r\nX-Late: 1\r\n"
        writer.write(chunked("/fields", trailer) + request(b"next"))
        assert (await answer(reader))[1] == b'["host","transfer-encoding"]'
        assert (await answer(reader))[1] == b"4"

    served(talk)


def test_a_trailer_that_comes_byte_by_byte_adds_no_header() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.set_write_buffer_limits(high=0)
        for byte in chunked("/fields", b"X-Late: 1\r\n"):
            writer.write(bytes([byte]))
            await writer.drain()
        assert (await answer(reader))[1] == b'["host","transfer-encoding"]'

    served(talk)


@pytest.mark.parametrize("begin", [b"X-Late: ", b"X-Late", b"X-A: 1\r\nX-B: "])
def test_a_trailer_that_does_not_end_is_refused(begin: bytes) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answering = asyncio.create_task(reader.read())
        # The end of the message is missing.
        writer.write(chunked("/length", begin)[:-2])
        with suppress(ConnectionError):
            while not answering.done():
                writer.write(b"x" * 8192)
                await writer.drain()
                await asyncio.sleep(0)
        (said,) = await asyncio.gather(answering, return_exceptions=True)
        # What was sent and not read any more may have taken the answer with it.
        if isinstance(said, bytes) and said:
            assert b" 400 " in said
            assert str(LONGEST_HEAD).encode() in said

    served(talk)


def test_a_body_of_many_small_chunks_is_no_long_trailer() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"POST /length HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(LONGEST_HEAD // 4):
            writer.write(b"1\r\nb\r\n")
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        assert (await answer(reader))[1] == str(LONGEST_HEAD // 4).encode()

    served(talk)
