"""The socket of pages over a real server, with stand-ins for chats and desktops."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.tools.control_plane.fakes import (
    LIMIT,
    TOKEN,
    ControlPlaneFixture,
    FakeDesktop,
    control_plane,
    local_socket,
    serving,
)

PLANE = "plane"


@asynccontextmanager
async def opened(
    shown: ControlPlaneFixture, token: str = TOKEN, **headers: str
) -> AsyncIterator[ClientConnection]:
    bound, address = local_socket()
    fields = {"Authorization": f"Bearer {token}", **headers}
    async with (
        asyncio.timeout(LIMIT),
        serving(shown.app, bound),
        connect(f"ws://{address}/api/v0/live", additional_headers=fields) as socket,
    ):
        yield socket


async def said(socket: ClientConnection, **message: str) -> dict[str, Any]:
    """Send a message and return the next one that comes."""
    await socket.send(json.dumps(message))
    return await heard(socket)


async def heard(socket: ClientConnection) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(await socket.recv())
    return found


def test_events_of_a_topic_arrive_in_order_with_ids(tmp_path: Path) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path)
        async with opened(shown) as socket:
            assert await said(socket, subscribe="chats") == {"topic": "chats", "kind": "open"}
            first = shown.chats.hub.publish("status", "c1", {"state": "running"})
            shown.chats.hub.publish("text", "c1", {"text": "not in the list of all"})
            shown.chats.hub.publish("deleted", "c2")
            got = [await heard(socket) for _ in range(2)]
        assert got[0] == {
            "topic": "chats",
            "kind": "status",
            "id": f"{PLANE}:{first.id}",
            "chat_id": "c1",
            "data": {"state": "running"},
        }
        assert (got[1]["kind"], got[1]["chat_id"]) == ("deleted", "c2")

    asyncio.run(scenario())


def test_a_page_that_comes_back_misses_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path)
        seen = shown.chats.hub.publish("status", "c1")
        for kind in ("step", "message"):
            shown.chats.hub.publish(kind, "c1")
        async with opened(shown) as socket:
            await socket.send(json.dumps({"subscribe": "chat:c1", "after": f"{PLANE}:{seen.id}"}))
            assert [(await heard(socket))["kind"] for _ in range(3)] == ["open", "step", "message"]

    asyncio.run(scenario())


@pytest.mark.parametrize("after", ["other:1", "plane:999999"])
def test_an_id_that_cannot_be_continued_is_answered_by_again(tmp_path: Path, after: str) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path)
        shown.chats.hub.publish("status", "c1")
        async with opened(shown) as socket:
            await socket.send(json.dumps({"subscribe": "chats", "after": after}))
            assert [(await heard(socket))["kind"] for _ in range(2)] == ["open", "again"]

    asyncio.run(scenario())


def test_a_share_link_receives_its_run_alone_and_not_the_conversation(tmp_path: Path) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, scopes=("run:c1:view",))
        async with opened(shown) as socket:
            for topic in ("chats", "desktops", "chat:c2", "shot:d1", "viewers:d1"):
                assert (await said(socket, subscribe=topic))["kind"] == "refused", topic
            assert (await said(socket, subscribe="chat:c1"))["kind"] == "open"
            for kind in ("message", "text", "queue", "status"):
                shown.chats.hub.publish(kind, "c1")
            assert (await heard(socket))["kind"] == "status"

    asyncio.run(scenario())


def test_a_started_desktop_is_reported(tmp_path: Path) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path)
        async with opened(shown) as socket:
            assert (await said(socket, subscribe="desktops"))["kind"] == "open"
            shown.desktops.known["d1"] = FakeDesktop("d1", "Desktop 1")
            assert await heard(socket) == {"topic": "desktops", "kind": "changed"}
            await socket.send(json.dumps({"unsubscribe": "desktops"}))
            assert (await said(socket, subscribe="viewers:d9"))["kind"] in ("open", "ended")

    asyncio.run(scenario())


@pytest.mark.parametrize("message", ["", "{}", '{"subscribe": "everything"}', "[1]"])
def test_a_wrong_message_is_refused_and_the_socket_stays_open(tmp_path: Path, message: str) -> None:
    async def scenario() -> None:
        async with opened(control_plane(tmp_path)) as socket:
            await socket.send(message)
            assert (await heard(socket))["kind"] == "refused"
            assert (await said(socket, subscribe="chats"))["kind"] == "open"

    asyncio.run(scenario())


def test_a_foreign_page_or_a_wrong_token_gets_no_socket(tmp_path: Path) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path)
        with pytest.raises(InvalidStatus):
            async with opened(shown, "wrong"):
                pass
        with pytest.raises(InvalidStatus):
            async with opened(shown, Origin="http://foreign.example"):
                pass

    asyncio.run(scenario())


def test_the_end_of_the_service_closes_the_socket(tmp_path: Path) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path)
        async with opened(shown) as socket:
            assert (await said(socket, subscribe="chats"))["kind"] == "open"
            shown.closing.set()
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1001

    asyncio.run(scenario())


def test_one_page_too_many_is_refused_until_another_one_closes(tmp_path: Path) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, most_pages=1)
        bound, address = local_socket()
        url, headers = f"ws://{address}/api/v0/live", {"Authorization": f"Bearer {TOKEN}"}
        async with asyncio.timeout(LIMIT), serving(shown.app, bound):
            async with connect(url, additional_headers=headers) as first:
                assert (await said(first, subscribe="chats"))["kind"] == "open"
                async with connect(url, additional_headers=headers) as second:
                    with pytest.raises(ConnectionClosed) as closed:
                        await second.recv()
                    assert closed.value.rcvd is not None
                    assert closed.value.rcvd.code == 1013
            # The server may notice the end of the first one later than its client.
            while True:
                async with connect(url, additional_headers=headers) as third:
                    try:
                        assert (await said(third, subscribe="chats"))["kind"] == "open"
                    except ConnectionClosed:
                        continue
                    break

    asyncio.run(scenario())
