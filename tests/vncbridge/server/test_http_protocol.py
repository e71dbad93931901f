import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from fastapi import FastAPI, Request
from starlette.responses import StreamingResponse
from starlette.websockets import WebSocket

from deskhand.vncbridge.server.connection_limits import ConnectionLimits
from deskhand.vncbridge.server.http_protocol import mark_proven
from deskhand.vncbridge.server.server import Address, Serving, listening

LIMIT = 20.0
SOON = ConnectionLimits(head_seconds=0.05)
Client = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Open = Callable[[], Awaitable[Client]]


def application() -> FastAPI:
    app = FastAPI()

    @app.get("/host")
    async def host(request: Request) -> str:
        return request.headers["host"]

    @app.get("/proven")
    async def proven(request: Request) -> str:
        mark_proven(request.scope)
        return "proven"

    @app.websocket("/echo")
    async def echo(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text(await websocket.receive_text())

    @app.get("/streamed")
    async def streamed() -> StreamingResponse:
        async def parts() -> AsyncIterator[bytes]:
            yield b"first"
            await asyncio.sleep(4 * SOON.head_seconds)
            yield b"last"

        return StreamingResponse(parts())

    return app


def served(limits: ConnectionLimits, talk: Callable[[Open], Awaitable[None]]) -> None:
    """Let a scene talk to a service with those limits."""

    async def scene() -> None:
        with listening(Address("127.0.0.1", 0)) as (bound, address):
            server = Serving(application(), limits=limits)
            serving = asyncio.create_task(server.run_until_asked(bound))
            writers: list[asyncio.StreamWriter] = []

            async def connect() -> Client:
                reader, writer = await asyncio.open_connection(address.host, address.port)
                writers.append(writer)
                return reader, writer

            try:
                async with asyncio.timeout(LIMIT):
                    await talk(connect)
            finally:
                for writer in writers:
                    writer.close()
                server.ask_to_end()
                await serving

    asyncio.run(scene())


async def body(client: Client, request: bytes) -> bytes:
    reader, writer = client
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    assert b" 200 " in head.partition(b"\r\n")[0]
    (length,) = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-len")]
    return await reader.readexactly(int(length.partition(b":")[2]))


def get(target: str, host: str = "here", end: str = "\r\n\r\n") -> bytes:
    return f"GET {target} HTTP/1.1\r\nHost: {host}{end}".encode()


def test_headers_that_do_not_end_in_time_are_answered_408() -> None:
    async def talk(connect: Open) -> None:
        reader, writer = await connect()
        writer.write(get("/host", end="\r\nX-Half: "))
        assert (await reader.read()).startswith(b"HTTP/1.1 408 ")

    served(SOON, talk)


def test_a_connection_without_a_request_is_closed() -> None:
    async def talk(connect: Open) -> None:
        reader, _ = await connect()
        assert await reader.read() == b""
        # Bytes between two requests begin none, but the time counts from them.
        reader, writer = await connect()
        await body((reader, writer), get("/host"))
        writer.write(b"\r\n")
        assert await reader.read() == b""

    served(SOON, talk)


def test_a_late_request_does_not_disturb_the_answer_before_it() -> None:
    async def talk(connect: Open) -> None:
        reader, writer = await connect()
        writer.write(get("/streamed") + get("/host", end="\r\nX-Half: "))
        answer = await reader.read()
        assert b"last" in answer
        first, _, second = answer.partition(b"0\r\n\r\n")
        assert b" 408 " not in first
        assert second == b"" or second.startswith(b"HTTP/1.1 408 ")

    served(SOON, talk)


def test_the_newest_connections_are_served() -> None:
    async def talk(connect: Open) -> None:
        first = await connect()
        assert await body(first, get("/host")) == b'"here"'
        for _ in range(5):
            newest = await connect()
            assert await body(newest, get("/host")) == b'"here"'
        assert await first[0].read() == b""

    served(ConnectionLimits(waiting_per_peer=2), talk)


def test_a_connection_that_has_shown_a_credential_stays() -> None:
    async def talk(connect: Open) -> None:
        first = await connect()
        await body(first, get("/proven"))
        for _ in range(5):
            await body(await connect(), get("/host"))
        assert await body(first, get("/host")) == b'"here"'

    served(ConnectionLimits(waiting_per_peer=2), talk)


def test_the_host_of_an_absolute_target_counts() -> None:
    async def talk(connect: Open) -> None:
        client = await connect()
        assert await body(client, get("http://there:80/host")) == b'"there:80"'
        assert await body(client, get("/host")) == b'"here"'

    served(ConnectionLimits(), talk)


def test_a_websocket_has_no_limit_for_a_next_request() -> None:
    async def talk(connect: Open) -> None:
        reader, writer = await connect()
        upgrade = "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13"
        writer.write(get("/echo", end=f"{upgrade}\r\nSec-WebSocket-Key: {'A' * 22}==\r\n\r\n"))
        assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
        # Of two connections with the same limit, the older one would be closed first.
        idle, _ = await connect()
        assert await idle.read() == b""
        writer.write(b"\x81\x81" + bytes(4) + b"x")
        assert await reader.readexactly(3) == b"\x81\x01x"

    served(SOON, talk)
