import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from deskhand.tools.control_plane.errors import TooManyStreams
from deskhand.tools.control_plane.routes.events import event_response, router
from deskhand.vncbridge.http.sse import EventStreams
from tests.tools.control_plane.fakes import (
    LIMIT,
    TOKEN,
    ControlPlaneFixture,
    FakeChats,
    control_plane,
    local_socket,
    serving,
)


async def next_block(lines: AsyncIterator[str]) -> list[str]:
    """Return the lines up to the next empty one."""
    block: list[str] = []
    async for line in lines:
        if not line:
            return block
        block.append(line)
    return block


def data_of(block: list[str]) -> Any:
    return json.loads(block[-1].removeprefix("data: "))


@contextlib.asynccontextmanager
async def served(made: ControlPlaneFixture) -> AsyncIterator[httpx2.AsyncClient]:
    bound, address = local_socket()
    async with (
        asyncio.timeout(LIMIT),
        serving(made.app, bound),
        httpx2.AsyncClient(
            base_url=f"http://{address}",
            headers={"Authorization": f"Bearer {TOKEN}"},
            trust_env=False,
            timeout=LIMIT,
            limits=httpx2.Limits(max_connections=None),
        ) as client,
    ):
        yield client


def test_all_events_come_as_they_happen(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with served(made) as client, client.stream("GET", "/api/v0/events") as reply:
            assert reply.headers["content-type"].startswith("text/event-stream")
            assert reply.headers["cache-control"] == "no-store"
            assert "content-length" not in reply.headers
            lines = reply.aiter_lines()
            assert await next_block(lines) == ["retry: 2000"]
            made.chats.hub.publish("created", "c1")
            made.chats.hub.publish("status", "c2", {"state": "running"})
            assert (await next_block(lines))[:2] == ["id: 1", "event: created"]
            event = data_of(await next_block(lines))
            assert event == {
                "id": 2,
                "kind": "status",
                "chat_id": "c2",
                "data": {"state": "running"},
            }

    asyncio.run(scenario())


def test_what_happens_once_the_stream_is_open_is_never_missed(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with served(made) as client, client.stream("GET", "/api/v0/events") as reply:
            made.chats.hub.publish("created", "c1")
            lines = reply.aiter_lines()
            await next_block(lines)
            assert data_of(await next_block(lines))["chat_id"] == "c1"

    asyncio.run(scenario())


def test_a_reconnecting_client_receives_what_it_missed(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        for chat_id in ("c1", "c2"):
            made.chats.hub.publish("created", chat_id)
        again = {"Last-Event-ID": "1"}
        async with (
            served(made) as client,
            client.stream("GET", "/api/v0/events", headers=again) as reply,
        ):
            lines = reply.aiter_lines()
            await next_block(lines)
            assert data_of(await next_block(lines))["chat_id"] == "c2"

    asyncio.run(scenario())


def test_one_chats_events_come_without_the_others(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add()
        path = f"/api/v0/chats/{chat.id}/events"
        async with served(made) as client, client.stream("GET", path) as reply:
            made.chats.hub.publish("status", "another")
            made.chats.hub.publish("status", chat.id)
            lines = reply.aiter_lines()
            await next_block(lines)
            assert data_of(await next_block(lines))["chat_id"] == chat.id

    asyncio.run(scenario())


def test_the_streams_end_when_the_service_closes(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with served(made) as client, client.stream("GET", "/api/v0/events") as reply:
            made.closing.set()
            assert await reply.aread() == b"retry: 2000\n\n"

    asyncio.run(scenario())


def test_a_stream_ends_with_its_events(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        made.chats.hub.publish("created", "c1")
        made.chats.hub.close()
        async with made.client() as client:
            reply = await client.get("/api/v0/events")
        assert reply.content == b"retry: 2000\n\n"

    asyncio.run(scenario())


def test_a_quiet_stream_shows_that_it_lives() -> None:
    async def scenario() -> None:
        chats, closing = FakeChats(), asyncio.Event()
        app = FastAPI()
        app.include_router(router(chats, EventStreams(closing, heartbeat=0.001)))
        bound, address = local_socket()
        async with (
            asyncio.timeout(LIMIT),
            serving(app, bound),
            httpx2.AsyncClient(
                base_url=f"http://{address}", trust_env=False, timeout=LIMIT
            ) as client,
            client.stream("GET", "/api/v0/events") as reply,
        ):
            lines = reply.aiter_lines()
            await next_block(lines)
            assert await next_block(lines) == [": still here"]
            assert await next_block(lines) == [": still here"]

    asyncio.run(scenario())


def test_there_are_only_so_many_streams_at_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        chats, closing = FakeChats(), asyncio.Event()
        streams = EventStreams(closing, limit=2)
        app = FastAPI()
        app.include_router(router(chats, streams))
        bound, address = local_socket()
        async with (
            asyncio.timeout(LIMIT),
            serving(app, bound),
            httpx2.AsyncClient(
                base_url=f"http://{address}", trust_env=False, timeout=LIMIT
            ) as client,
        ):
            async with (
                client.stream("GET", "/api/v0/events") as first,
                client.stream("GET", "/api/v0/events"),
            ):
                assert first.status_code == 200
                assert streams.count == 2
                with pytest.raises(TooManyStreams):
                    event_response(streams, lambda: chats.events(None))
            closing.set()
        assert streams.count == 0

    asyncio.run(scenario())


def test_the_limit_of_streams_is_a_429(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with served(made) as client, contextlib.AsyncExitStack() as streams:
            for _ in range(128):
                await streams.enter_async_context(client.stream("GET", "/api/v0/events"))
            refused = await client.get("/api/v0/events")
            made.closing.set()
        assert refused.status_code == 429
        assert "128 event streams" in refused.json()["message"]

    asyncio.run(scenario())


def test_a_listener_that_leaves_is_forgotten(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with served(made) as client:
            async with client.stream("GET", "/api/v0/events"):
                assert len(made.chats.listening) == 1
            (subscription,) = made.chats.listening
            with pytest.raises(StopAsyncIteration):
                await anext(subscription)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("link", "seen"),
    [
        ("view", ["status", "step"]),
        ("conversation", ["status", "text", "message", "queue", "step"]),
    ],
)
def test_a_share_link_streams_the_conversation_only_if_requested(
    tmp_path: Path, link: str, seen: list[str]
) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path, scopes=(f"run:c1:{link}",))
        made.chats.add(id="c1")
        async with (
            served(made) as client,
            client.stream("GET", "/api/v0/chats/c1/events") as reply,
        ):
            lines = reply.aiter_lines()
            await next_block(lines)
            for kind in ("status", "text", "message", "queue", "step"):
                made.chats.hub.publish(kind, "c1")
            found = [(await next_block(lines))[1] for _ in seen]
            assert found == [f"event: {kind}" for kind in seen]

    asyncio.run(scenario())
