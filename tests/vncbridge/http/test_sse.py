import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message

from deskhand.vncbridge.http.sse import (
    HEARTBEAT,
    RETRY,
    EventStreamResponse,
    EventStreams,
    format_event,
)

SECONDS = 20.0


class Client:
    """The server's side of one request: what is sent, and when the client disconnects."""

    def __init__(self) -> None:
        self.sent: asyncio.Queue[Message] = asyncio.Queue()
        self.leaves = asyncio.Event()

    async def receive(self) -> Message:
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        await self.sent.put(message)

    async def body(self) -> bytes:
        body: bytes = (await self.sent.get())["body"]
        return body

    async def serve(self, response: EventStreamResponse) -> None:
        await response({"type": "http"}, self.receive, self.send)


class Events:
    """A source that yields what is put into it; None ends it."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        self.closed = False

    async def stream(self) -> AsyncGenerator[bytes, None]:
        try:
            while (event := await self.queue.get()) is not None:
                if isinstance(event, Exception):
                    raise event
                yield event
        finally:
            self.closed = True


Scenario = Callable[[Client, Events, EventStreams, "asyncio.Task[None]"], Awaitable[None]]


def run(scenario: Scenario, *, heartbeat: float = SECONDS, opening: bytes = b"") -> None:
    async def with_response() -> None:
        client, events, streams = Client(), Events(), EventStreams(limit=1, heartbeat=heartbeat)
        closed: list[bool] = []
        resource = ExitStack()
        resource.callback(closed.append, True)
        response = EventStreamResponse(streams, events.stream(), opening=opening, resource=resource)
        serving = asyncio.create_task(client.serve(response))
        async with asyncio.timeout(SECONDS):
            assert (await client.sent.get())["type"] == "http.response.start"
            assert streams.full
            await scenario(client, events, streams, serving)
            await asyncio.wait([serving])
        assert events.closed
        assert closed == [True]
        assert not streams.full

    asyncio.run(with_response())


def test_events_are_sent_as_they_come_until_they_end() -> None:
    async def scenario(
        client: Client, events: Events, _: EventStreams, serving: "asyncio.Task[None]"
    ) -> None:
        assert await client.body() == RETRY
        events.queue.put_nowait(b"one")
        assert await client.body() == b"one"
        events.queue.put_nowait(b"two")
        events.queue.put_nowait(None)
        assert await client.body() == b"two"
        assert await client.sent.get() == {"type": "http.response.body", "body": b""}
        await serving

    run(scenario, opening=RETRY)


def test_a_quiet_stream_is_kept_alive() -> None:
    async def scenario(
        client: Client, events: Events, streams: EventStreams, serving: "asyncio.Task[None]"
    ) -> None:
        assert await client.body() == HEARTBEAT == b": still here\n\n"
        assert await client.body() == HEARTBEAT
        client.leaves.set()
        await serving

    run(scenario, heartbeat=0.0)


def test_a_stream_ends_with_the_service() -> None:
    async def scenario(
        client: Client, events: Events, streams: EventStreams, serving: "asyncio.Task[None]"
    ) -> None:
        streams.closing.set()
        assert await client.sent.get() == {"type": "http.response.body", "body": b""}
        await serving

    run(scenario)


def test_nothing_is_sent_once_the_client_has_disconnected() -> None:
    async def scenario(
        client: Client, events: Events, streams: EventStreams, serving: "asyncio.Task[None]"
    ) -> None:
        client.leaves.set()
        await serving
        assert client.sent.empty()

    run(scenario)


def test_a_cancelled_response_completes_no_body() -> None:
    async def scenario(
        client: Client, events: Events, streams: EventStreams, serving: "asyncio.Task[None]"
    ) -> None:
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving
        assert client.sent.empty()

    run(scenario)


def test_an_error_of_the_source_is_raised() -> None:
    async def scenario(
        client: Client, events: Events, streams: EventStreams, serving: "asyncio.Task[None]"
    ) -> None:
        events.queue.put_nowait(KeyError("x"))
        with pytest.raises(KeyError):
            await serving

    run(scenario)


def test_a_resource_is_closed_even_if_the_client_was_gone_before_the_first_event() -> None:
    async def scenario() -> None:
        client, closed = Client(), ExitStack()
        done: list[int] = []
        closed.callback(done.append, 1)
        client.leaves.set()
        await client.serve(EventStreamResponse(EventStreams(), Events().stream(), resource=closed))
        assert done == [1]

    asyncio.run(asyncio.wait_for(scenario(), SECONDS))


def test_an_event_is_written_byte_for_byte() -> None:
    assert format_event("a", {"t": "ü\n"}, "x-1") == (
        b'id: x-1\nevent: a\ndata: {"t":"\xc3\xbc\\n"}\n\n'
    )
    assert format_event("ready", {}) == b"event: ready\ndata: {}\n\n"


@given(st.dictionaries(st.text(), st.text()))
def test_data_stay_on_one_line(data: dict[str, str]) -> None:
    lines = format_event("text", data, "1").decode().split("\n")
    assert len(lines) == 5
    assert json.loads(lines[2].removeprefix("data: ")) == data


def test_what_utf_8_cannot_encode_is_replaced() -> None:
    assert format_event("a", {"title": "\ud800"}).endswith(b'data: {"title":"?"}\n\n')


@pytest.mark.parametrize("kind", ["a\nb", "a\rb"])
def test_a_kind_with_a_line_break_is_refused(kind: str) -> None:
    with pytest.raises(ValueError, match="not a name of an event"):
        format_event(kind, {})
