import asyncio
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

import pytest
from starlette.websockets import WebSocket

from deskhand.vncbridge.server.websocket_protocol import EXTENSION
from deskhand.vncbridge.websocket.client_stream import ClientStream, CloseReason, StreamEnded

Message = MutableMapping[str, Any]


class Peer:
    """The ASGI server's side of one WebSocket, with a say in what is taken."""

    def __init__(self, waiting: Iterator[int] | None = None) -> None:
        self.taken: list[Message] = []
        self.dropped: list[tuple[int, str]] = []
        self.room = asyncio.Event()
        self.inbox: asyncio.Queue[Message] = asyncio.Queue()
        self.inbox.put_nowait({"type": "websocket.connect"})
        self.failure: OSError | None = None
        self._waiting = waiting

    def drop(self, code: int, reason: str) -> None:
        self.dropped.append((code, reason))

    async def take(self, message: Message) -> None:
        if message["type"] != "websocket.accept":
            await self.room.wait()
        if self.failure is not None:
            raise self.failure
        self.taken.append(message)

    async def accepted(self, stuck_seconds: float = 20.0) -> ClientStream:
        waiting = self._waiting
        extension: dict[str, Callable[..., Any]] = (
            {} if waiting is None else {"waiting": lambda: next(waiting), "drop": self.drop}
        )
        scope = {"type": "websocket", "headers": [], "extensions": {EXTENSION: extension}}
        websocket = WebSocket(scope, self.inbox.get, self.take)
        await websocket.accept()
        return ClientStream(websocket, stuck_seconds)


def test_a_watcher_that_takes_nothing_is_stuck() -> None:
    async def scenario() -> CloseReason:
        client = await Peer(iter([9, 9])).accepted(stuck_seconds=0.01)
        with pytest.raises(StreamEnded) as ended:
            await client.send(b"picture")
        return ended.value.close_reason

    assert asyncio.run(scenario()) == CloseReason(1013, "Nothing was read for 0.01 s.")


def test_a_watcher_that_takes_a_little_is_slow_but_not_stuck() -> None:
    peer = Peer()

    def shrinking() -> Iterator[int]:
        yield from (9, 8, 7, 6, 5)
        peer.room.set()
        yield 4

    async def scenario() -> None:
        peer._waiting = shrinking()
        client = await peer.accepted(stuck_seconds=0.01)
        await client.send(b"picture")

    asyncio.run(scenario())
    assert peer.taken[-1]["bytes"] == b"picture"


def test_text_and_bytes_are_sent_as_what_they_are() -> None:
    async def scenario() -> list[Message]:
        peer = Peer()
        peer.room.set()
        client = await peer.accepted()
        await client.send("words")
        await client.send(b"bytes")
        return peer.taken[1:]

    assert asyncio.run(scenario()) == [
        {"type": "websocket.send", "text": "words"},
        {"type": "websocket.send", "bytes": b"bytes"},
    ]


def test_messages_and_the_clients_close_reason_are_received() -> None:
    async def scenario() -> None:
        peer = Peer()
        client = await peer.accepted()
        peer.inbox.put_nowait({"type": "websocket.receive", "bytes": b"key", "text": None})
        peer.inbox.put_nowait({"type": "websocket.receive", "text": "word"})
        peer.inbox.put_nowait({"type": "websocket.disconnect", "code": 1001, "reason": "bye"})
        assert await client.receive() == b"key"
        assert await client.receive() == "word"
        with pytest.raises(StreamEnded) as ended:
            await client.receive()
        assert ended.value.close_reason == CloseReason(1001, "bye")

    asyncio.run(scenario())


def test_sending_to_a_watcher_that_left_ends_the_stream() -> None:
    async def scenario() -> None:
        peer = Peer()
        client = await peer.accepted()
        peer.room.set()
        peer.failure = OSError("gone")
        with pytest.raises(StreamEnded) as ended:
            await client.send(b"picture")
        assert ended.value.close_reason.code == 1006
        await client.close(CloseReason(1000))

    asyncio.run(scenario())


def test_closing_goes_past_the_write_buffer_where_the_server_can() -> None:
    async def scenario() -> Peer:
        peer = Peer(iter([]))
        client = await peer.accepted()
        await client.close(CloseReason(1013, "stuck"))
        return peer

    peer = asyncio.run(scenario())
    assert peer.dropped == [(1013, "stuck")]


def test_closing_is_plain_asgi_elsewhere() -> None:
    async def scenario() -> list[Message]:
        peer = Peer()
        peer.room.set()
        client = await peer.accepted()
        await client.close(CloseReason(1000, "done"))
        return peer.taken[1:]

    assert asyncio.run(scenario()) == [{"type": "websocket.close", "code": 1000, "reason": "done"}]


def test_nothing_is_sent_to_a_client_that_disconnected() -> None:
    async def scenario() -> list[Message]:
        peer = Peer()
        client = await peer.accepted()
        peer.inbox.put_nowait({"type": "websocket.disconnect", "code": 1005})
        with pytest.raises(StreamEnded):
            await client.receive()
        await client.close(CloseReason(1000))
        return peer.taken[1:]

    assert asyncio.run(scenario()) == []
