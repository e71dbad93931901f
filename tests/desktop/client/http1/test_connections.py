"""Connections to a server that is played by a script of bytes."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from deskhand.desktop.client.http1.connection import ConnectionLost
from deskhand.desktop.client.http1.connections import (
    MOST_IDLE,
    ConnectionPool,
    Connections,
    ServicePlace,
)
from deskhand.desktop.client.http1.request import ClientRequest, RequestHeads
from deskhand.desktop.client.http1.response import BrokenResponse
from deskhand.desktop.errors import DesktopUnavailable

REQUEST = ClientRequest("GET", "/", {})
POST = ClientRequest("POST", "/", {})
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
LAST = OK.replace(b"\r\nContent", b"\r\nConnection: close\r\nContent")
PATIENCE = 20.0
HEADS = RequestHeads("localhost", "", {})

Play = Callable[[int, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Server:
    """Plays a script for each connection, by its number, and counts them."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self.opened = 0
        self.place: Path | ServicePlace = Path()
        self.asked = asyncio.Event()
        """Set when a request has come."""
        self.sent = 0
        self.blocked = asyncio.Event()
        """Set when the client does not receive what is sent."""
        self.left = asyncio.Event()
        """Set when a client has closed its connection."""

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        try:
            await self._play(self.opened, reader, writer)
        finally:
            writer.close()

    async def requested(self, reader: asyncio.StreamReader) -> bool:
        """Wait for a request; return False when the client has gone."""
        try:
            await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            self.left.set()
            return False
        self.asked.set()
        return True


def run(
    play: Callable[[Server], Play],
    scenario: Callable[[Connections, Server], Awaitable[None]],
    unix: Path | None = None,
) -> None:
    async def limited() -> None:
        server = Server(lambda *given: play(server)(*given))
        if unix is None:
            listening = await asyncio.start_server(server, "127.0.0.1")
            port = listening.sockets[0].getsockname()[1]
            place: Path | ServicePlace = ServicePlace("127.0.0.1", port)
        else:
            listening, place = await asyncio.start_unix_server(server, str(unix)), unix
        server.place = place
        connections = Connections(ConnectionPool(place), HEADS)
        try:
            async with asyncio.timeout(PATIENCE):
                await scenario(connections, server)
        finally:
            connections.close()
            listening.close()

    asyncio.run(limited())


def answering(*answers: bytes) -> Callable[[Server], Play]:
    """Answer the requests of each connection with these bytes, and close it after the last."""

    def make(server: Server) -> Play:
        async def play(_: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            for answer in answers:
                if not await server.requested(reader):
                    return
                writer.write(answer)
            await server.requested(reader)

        return play

    return make


def silent(server: Server) -> Play:
    async def play(_: int, reader: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
        while await server.requested(reader):
            pass

    return play


@pytest.mark.parametrize("unix", [True, False])
def test_requests_one_after_the_other_use_one_connection(tmp_path: Path, unix: bool) -> None:
    async def scenario(connections: Connections, server: Server) -> None:
        for _ in range(3):
            answer = await connections.request(POST, PATIENCE)
            assert answer.content == b"ok"
        assert server.opened == 1

    run(answering(OK, OK, OK), scenario, tmp_path / "s" if unix else None)


def test_requests_side_by_side_have_connections_of_their_own() -> None:
    async def scenario(connections: Connections, server: Server) -> None:
        count = MOST_IDLE + 5
        for _ in range(2):
            wanted = [connections.request(POST, PATIENCE) for _ in range(count)]
            assert {one.head.status for one in await asyncio.gather(*wanted)} == {200}
        assert server.opened == count + 5  # those that were not kept

    run(answering(*[OK] * 3), scenario)


def test_a_connection_that_the_service_closes_is_not_used_again() -> None:
    async def scenario(connections: Connections, server: Server) -> None:
        for _ in range(2):
            await connections.request(POST, PATIENCE)
        assert server.opened == 2

    run(answering(LAST), scenario)


def closing_the_second(server: Server) -> Play:
    """Close the first connection when its second request has come, without an answer."""

    async def play(number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.requested(reader)
        writer.write(OK)
        if await server.requested(reader) and number > 1:
            writer.write(OK)

    return play


def test_a_repeatable_request_is_sent_again_after_a_closed_idle_connection() -> None:
    async def scenario(connections: Connections, server: Server) -> None:
        for _ in range(2):
            assert (await connections.request(REQUEST, PATIENCE)).head.status == 200
        assert server.opened == 2

    run(closing_the_second, scenario)


def test_any_other_request_is_sent_once() -> None:
    async def scenario(connections: Connections, server: Server) -> None:
        await connections.request(POST, PATIENCE)
        with pytest.raises(ConnectionLost, match="broken off"):
            await connections.request(POST, PATIENCE)
        assert server.opened == 1

    run(closing_the_second, scenario)


def test_an_answer_that_breaks_off_is_not_requested_again() -> None:
    async def scenario(connections: Connections, server: Server) -> None:
        with pytest.raises(ConnectionLost) as lost:
            await connections.request(REQUEST, PATIENCE)
        assert lost.value.has_begun
        assert server.opened == 1

    def cut(server: Server) -> Play:
        async def play(_: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server.requested(reader)
            writer.write(OK[:-1])

        return play

    run(cut, scenario)


def test_a_cancelled_request_ends_at_the_service_too() -> None:
    async def scenario(connections: Connections, server: Server) -> None:
        request = asyncio.create_task(connections.request(REQUEST, PATIENCE))
        await server.asked.wait()
        request.cancel()
        await asyncio.gather(request, return_exceptions=True)
        await server.left.wait()

    run(silent, scenario)


def test_silence_ends_a_request_and_its_connection() -> None:
    async def scenario(connections: Connections, server: Server) -> None:
        with pytest.raises(TimeoutError):
            await connections.request(REQUEST, 0.01)
        await server.left.wait()

    run(silent, scenario)


def test_an_answer_may_take_longer_than_its_pauses() -> None:
    def slow(server: Server) -> Play:
        async def play(_: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server.requested(reader)
            for at in range(len(OK)):
                writer.write(OK[at : at + 1])
                await asyncio.sleep(0.02)

        return play

    async def scenario(connections: Connections, _: Server) -> None:
        answer = await connections.request(POST, 0.5)
        assert answer.content == b"ok"

    run(slow, scenario)


def test_what_is_no_http_is_refused() -> None:
    async def scenario(connections: Connections, server: Server) -> None:
        with pytest.raises(BrokenResponse):
            await connections.request(REQUEST, PATIENCE)
        await server.left.wait()

    run(answering(b"SSH-2.0-x\r\n\r\n", b""), scenario)


def test_bytes_without_a_request_close_the_connection() -> None:
    async def scenario(connections: Connections, server: Server) -> None:
        await connections.request(POST, PATIENCE)
        await server.left.wait()
        await connections.request(POST, PATIENCE)
        assert server.opened == 2

    def talking(server: Server) -> Play:
        async def play(
            number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            await server.requested(reader)
            writer.write(OK)
            await writer.drain()
            if number == 1:
                await asyncio.sleep(0.05)
                writer.write(b"more")
            await server.requested(reader)

        return play

    run(talking, scenario)


def test_content_is_yielded_as_it_arrives() -> None:
    taken = asyncio.Event()

    def in_two(server: Server) -> Play:
        async def play(_: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server.requested(reader)
            writer.write(OK[:-1])
            await taken.wait()
            writer.write(OK[-1:])
            await server.requested(reader)
            writer.write(OK)

        return play

    async def scenario(connections: Connections, server: Server) -> None:
        async with connections.stream(REQUEST) as reply:
            assert reply.status == 200
            content = reply.chunks()
            assert await anext(content) == b"o"
            taken.set()
            assert [piece async for piece in content] == [b"k"]
        assert (await connections.request(REQUEST, PATIENCE)).content == b"ok"
        assert server.opened == 1

    run(in_two, scenario)


def endless(server: Server) -> Play:
    """Send content until the client has gone; ``server.sent`` counts its bytes."""

    async def play(_: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.requested(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
        while not writer.is_closing():
            writer.write(bytes(1 << 20))
            server.sent += 1 << 20
            try:
                await asyncio.wait_for(writer.drain(), 0.2)
            except TimeoutError:
                server.blocked.set()
            except ConnectionError:
                break
        server.left.set()

    return play


def test_content_is_received_as_fast_as_it_is_taken() -> None:
    async def scenario(connections: Connections, server: Server) -> None:
        async with connections.stream(REQUEST) as reply:
            await server.blocked.wait()
            waiting = server.sent
            assert waiting < 20 << 20
            content, taken = reply.chunks(), 0
            while taken < 40 << 20:
                taken += len(await anext(content))
            assert server.sent > waiting
        # Leaving before the end ends the request at the service.
        await server.left.wait()

    run(endless, scenario)


async def upload(*pieces: bytes, then: asyncio.Event | None = None) -> AsyncGenerator[bytes, None]:
    for piece in pieces:
        yield piece
    if then is not None:
        await then.wait()


@pytest.mark.parametrize(
    ("fields", "sent"),
    [({}, b"2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"), ({"Content-Length": "3"}, b"abc")],
)
def test_content_is_sent_in_chunks_or_with_its_length(fields: dict[str, str], sent: bytes) -> None:
    def reading(server: Server) -> Play:
        async def play(_: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server.requested(reader)
            assert await reader.readexactly(len(sent)) == sent
            writer.write(OK)
            await server.requested(reader)

        return play

    async def scenario(connections: Connections, _: Server) -> None:
        request = ClientRequest("PUT", "/", fields, has_upload=True)
        async with connections.stream(request, upload(b"ab", b"", b"c")) as reply:
            assert reply.status == 200
            assert await reply.read() == b"ok"

    run(reading, scenario)


def test_a_service_may_answer_before_it_has_read_everything() -> None:
    refusal = LAST.replace(b"200 OK", b"413 Too Large")

    def refusing(server: Server) -> Play:
        async def play(_: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server.requested(reader)
            writer.write(refusal)

        return play

    async def scenario(connections: Connections, _: Server) -> None:
        request = ClientRequest("PUT", "/", {}, has_upload=True)
        many = upload(*[bytes(1 << 16)] * 1000)
        async with connections.stream(request, many) as reply:
            assert reply.status == 413
            assert await reply.read() == b"ok"

    run(refusing, scenario)


def test_a_connection_with_a_cut_upload_is_not_used_again() -> None:
    answered = asyncio.Event()

    async def cut() -> AsyncGenerator[bytes, None]:
        yield b"a"
        await answered.wait()
        yield b"b"

    def early(server: Server) -> Play:
        async def play(_: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server.requested(reader)
            writer.write(OK)
            await writer.drain()
            answered.set()
            await reader.read()

        return play

    async def scenario(connections: Connections, server: Server) -> None:
        request = ClientRequest("PUT", "/", {}, has_upload=True)
        async with connections.stream(request, cut()) as reply:
            assert await reply.read() == b"ok"
        await connections.request(REQUEST, PATIENCE)
        assert server.opened == 2

    run(early, scenario)


def test_content_is_sent_as_fast_as_the_service_reads_it() -> None:
    sent = 0

    async def counted() -> AsyncGenerator[bytes, None]:
        nonlocal sent
        while True:
            sent += 1
            yield bytes(1 << 20)

    async def scenario(connections: Connections, server: Server) -> None:
        async def send() -> None:
            request = ClientRequest("PUT", "/", {}, has_upload=True)
            async with connections.stream(request, counted()):
                pytest.fail("must not be answered")

        sending = asyncio.create_task(send())
        await server.asked.wait()
        for _ in range(100):
            await asyncio.sleep(0)
        assert sent < 20
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)

    def deaf(server: Server) -> Play:
        async def play(_: int, reader: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
            await server.requested(reader)
            await asyncio.Event().wait()

        return play

    run(deaf, scenario)


def test_an_upload_that_fails_ends_the_request() -> None:
    async def failing() -> AsyncGenerator[bytes, None]:
        yield b"a"
        raise LookupError

    async def scenario(connections: Connections, server: Server) -> None:
        request = ClientRequest("PUT", "/", {}, has_upload=True)
        with pytest.raises(LookupError):
            async with connections.stream(request, failing()):
                pytest.fail("must not be answered")
        await server.left.wait()

    run(silent, scenario)


def test_the_answer_to_head_has_no_content() -> None:
    head = OK[:-2]

    async def scenario(connections: Connections, server: Server) -> None:
        for _ in range(2):
            answer = await connections.request(ClientRequest("HEAD", "/", {}), PATIENCE)
            assert (answer.head.status, answer.content) == (200, b"")
        assert server.opened == 1

    run(answering(head, head), scenario)


def test_an_answer_may_end_with_its_connection() -> None:
    def closing(server: Server) -> Play:
        async def play(_: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server.requested(reader)
            writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok")

        return play

    async def scenario(connections: Connections, _: Server) -> None:
        assert (await connections.request(REQUEST, PATIENCE)).content == b"ok"

    run(closing, scenario)


def test_a_closed_client_does_not_complete_an_answer_that_ends_with_its_connection() -> None:
    def open_ended(server: Server) -> Play:
        async def play(_: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server.requested(reader)
            writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok")
            await reader.read()

        return play

    async def scenario(connections: Connections, _: Server) -> None:
        async with connections.stream(REQUEST) as reply:
            content = reply.chunks()
            assert await anext(content) == b"ok"
            connections.close()
            with pytest.raises(DesktopUnavailable):
                await anext(content)

    run(open_ended, scenario)


def test_a_closed_client_ends_its_requests() -> None:
    async def scenario(connections: Connections, server: Server) -> None:
        request = asyncio.create_task(connections.request(REQUEST, PATIENCE))
        await server.asked.wait()
        connections.close()
        with pytest.raises(ConnectionLost):
            await request

    run(silent, scenario)


def second_held(server: Server) -> Play:
    """Answer the first request of each connection, and no other."""

    async def play(_: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.requested(reader)
        writer.write(OK)
        server.asked.clear()
        while await server.requested(reader):
            pass

    return play


def test_the_end_of_a_service_ends_its_requests_and_not_those_of_others_at_its_place() -> None:
    async def scenario(_: Connections, server: Server) -> None:
        pool = ConnectionPool(server.place)
        ending, staying = Connections(pool, HEADS), Connections(pool, HEADS)
        requests = []
        for one in (ending, staying):
            await one.request(REQUEST, PATIENCE)
            requests.append(asyncio.create_task(one.request(REQUEST, PATIENCE)))
            await server.asked.wait()
        ending.end()
        # It is not sent again, though it can be repeated.
        with pytest.raises(ConnectionLost):
            await requests[0]
        with pytest.raises(ConnectionLost):
            await ending.request(REQUEST, PATIENCE)
        assert (server.opened, requests[1].done()) == (2, False)
        requests[1].cancel()
        await asyncio.gather(requests[1], return_exceptions=True)
        pool.close()

    run(second_held, scenario)


def test_a_service_that_is_not_there_cannot_be_reached(tmp_path: Path) -> None:
    async def scenario() -> None:
        for place in (tmp_path / "none", ServicePlace("127.0.0.1", 1)):
            with pytest.raises(OSError, match=r"refused|No such file|Connect"):
                await Connections(ConnectionPool(place), HEADS).request(REQUEST, PATIENCE)

    asyncio.run(scenario())


def test_a_request_is_sent_only_where_the_certificate_is_accepted_at_that_moment() -> None:
    async def scenario(_: Connections, server: Server) -> None:
        assert isinstance(server.place, ServicePlace)
        # Of the first connection; of it again, and of a new one; of that again, and of a new one.
        reasons = iter([None, "it was replaced", None, "it was revoked", "it was revoked"])
        place = replace(server.place, refusal=lambda certificate: next(reasons))
        connections = Connections(ConnectionPool(place), HEADS)
        for opened in (1, 2):
            await connections.request(POST, PATIENCE)
            assert server.opened == opened
        server.asked.clear()
        with pytest.raises(ConnectionLost, match="it was revoked") as lost:
            await connections.request(POST, PATIENCE)
        assert not lost.value.has_begun
        await server.left.wait()
        assert not server.asked.is_set()

    run(answering(OK, OK), scenario)
