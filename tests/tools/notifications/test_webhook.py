"""Delivery to a server on loopback."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from deskhand.tools.notifications.errors import DeliveryFailed
from deskhand.tools.notifications.notification import Notification
from deskhand.tools.notifications.webhook import Webhook

EVENT = Notification("n1", "c1", "q1", {"event": "question"}, 1.0)
SECRET = "0123456789abcdef"


@asynccontextmanager
async def receiver(answer: bytes) -> AsyncIterator[tuple[int, list[bytes]]]:
    """Serve one answer; yield the port, and the requests."""
    requests: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        lines = [line.lower() for line in head.split(b"\r\n")]
        (length,) = (line for line in lines if line.startswith(b"content-length"))
        requests.append(head + await reader.readexactly(int(length.split(b":")[1])))
        writer.write(b"HTTP/1.1 " + answer + b"\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], requests


async def loopback(host: str, port: int) -> Sequence[str]:
    return ["127.0.0.1"]


def test_an_event_is_posted_with_its_signature() -> None:
    async def scenario() -> None:
        async with receiver(b"204 No Content") as (port, requests):
            url = f"http://hook.example:{port}/in?x=1"
            await Webhook(url, SECRET, private=True, resolve=loopback).deliver(EVENT)
        (request,) = requests
        head, _, body = request.partition(b"\r\n\r\n")
        assert head.startswith(b"POST /in?x=1 HTTP/1.1")
        lines = {line.split(b":")[0].lower(): line for line in head.split(b"\r\n")[1:]}
        assert f"hook.example:{port}".encode() in lines[b"host"]
        assert b"n1" in lines[b"deskhand-notification"]
        assert b"t=" in lines[b"deskhand-signature"]
        assert SECRET.encode() not in request
        assert body == b'{"id":"n1","event":"question"}'

    asyncio.run(scenario())


@pytest.mark.parametrize("answer", [b"500 No", b"302 Found\r\nlocation: http://127.0.0.1:1/"])
def test_any_other_answer_is_a_failure(answer: bytes) -> None:
    async def scenario() -> None:
        async with receiver(answer) as (port, requests):
            webhook = Webhook(f"http://h:{port}/", SECRET, private=True, resolve=loopback)
            with pytest.raises(DeliveryFailed, match="it answered"):
                await webhook.deliver(EVENT)
        assert len(requests) == 1

    asyncio.run(scenario())


def test_a_name_that_resolves_to_a_private_address_gets_nothing() -> None:
    async def scenario() -> None:
        async with receiver(b"204 No Content") as (port, requests):
            webhook = Webhook(f"http://hook.example:{port}/", SECRET, resolve=loopback)
            with pytest.raises(DeliveryFailed, match=r"hook\.example has no address"):
                await webhook.deliver(EVENT)
            named = Webhook(f"http://127.0.0.1:{port}/", SECRET)
            with pytest.raises(DeliveryFailed, match="has no address"):
                await named.deliver(EVENT)
        assert requests == []

    asyncio.run(scenario())


def test_a_receiver_that_is_not_there_is_a_failure() -> None:
    async def scenario() -> None:
        async with receiver(b"204 No Content") as (port, _):
            pass
        webhook = Webhook(f"http://127.0.0.1:{port}/", SECRET, private=True)
        with pytest.raises(DeliveryFailed):
            await webhook.deliver(EVENT)

    asyncio.run(scenario())
