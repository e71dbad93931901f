import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx2
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.events.api import event_bytes, number_of, router
from deskhand.desktop.events.bus import DesktopEvent, EventBus
from tests.desktop.serving import serving

UNUSED = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
URL = "/api/v0/desktop/events"

Scenario = Callable[[EventBus, httpx2.AsyncClient], Awaitable[None]]


def run(scenario: Scenario, limit: int = 2, heartbeat: float = 20.0) -> None:
    async def limited() -> None:
        events = EventBus("boot", clock=lambda: 1.0)
        app = FastAPI()
        app.include_router(router(events, limit, heartbeat))
        async with (
            asyncio.timeout(20),
            serving(app) as address,
            httpx2.AsyncClient(
                base_url=address, verify=UNUSED, trust_env=False, timeout=20
            ) as client,
        ):
            await scenario(events, client)
            events.close()

    asyncio.run(limited())


async def lines(stream: httpx2.Response) -> AsyncIterator[str]:
    async for line in stream.aiter_lines():
        if line:
            yield line


def test_events_are_sent_as_they_are_published() -> None:
    async def scenario(events: EventBus, client: httpx2.AsyncClient) -> None:
        async with client.stream("GET", URL) as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            coming = lines(stream)
            assert await anext(coming) == "retry: 2000"
            events.publish("window_opened", {"title": "a\nb"})
            assert await anext(coming) == "id: boot-1"
            assert await anext(coming) == "event: window_opened"
            name, _, data = (await anext(coming)).partition(": ")
            assert name == "data"
            assert json.loads(data) == {
                "id": "boot-1",
                "kind": "window_opened",
                "at": 1.0,
                "data": {"title": "a\nb"},
            }

    run(scenario)


def test_a_reconnecting_listener_names_its_last_event() -> None:
    async def scenario(events: EventBus, client: httpx2.AsyncClient) -> None:
        events.publish("one")
        events.publish("two")
        for last, expected in (("boot-1", "two"), ("elsewhere-1", "lost")):
            headers = {"Last-Event-ID": last}
            async with client.stream("GET", URL, headers=headers) as stream:
                found = [line async for line in first(lines(stream), 3)]
                assert f"event: {expected}" in found

    run(scenario)


def test_a_quiet_stream_sends_heartbeats() -> None:
    async def scenario(_: EventBus, client: httpx2.AsyncClient) -> None:
        async with client.stream("GET", URL) as stream:
            found = [line async for line in first(lines(stream), 3)]
            assert found[1:] == [": still here", ": still here"]

    run(scenario, heartbeat=0.001)


def test_too_many_streams_are_refused_until_one_ends() -> None:
    async def scenario(events: EventBus, client: httpx2.AsyncClient) -> None:
        async with client.stream("GET", URL), client.stream("GET", URL):
            answer = await client.get(URL)
            assert answer.status_code == 429
            assert "at most 2" in answer.text
        async with asyncio.timeout(20):
            while True:
                async with client.stream("GET", URL) as stream:
                    if stream.status_code == 200:
                        return

    run(scenario)


def test_streams_end_when_the_bus_is_closed() -> None:
    async def scenario(events: EventBus, client: httpx2.AsyncClient) -> None:
        async with client.stream("GET", URL) as stream:
            coming = lines(stream)
            await anext(coming)
            events.publish("last")
            events.close()
            assert "event: last" in [line async for line in coming]

    run(scenario)


async def first(coming: AsyncIterator[str], count: int) -> AsyncIterator[str]:
    for _ in range(count):
        yield await anext(coming)


@given(st.text(), st.dictionaries(st.text(), st.text()))
def test_any_data_stays_one_event(kind: str, data: dict[str, str]) -> None:
    event = DesktopEvent(1, kind, data, 0.0)
    if not kind.isprintable():
        with pytest.raises(ValueError, match="not a name"):
            event_bytes(event, "boot")
        return
    sent = event_bytes(event, "boot").decode()
    assert sent.endswith("\n\n")
    assert sent.count("\n") == 4
    assert json.loads(sent.split("data: ", 1)[1])["data"] == data


@pytest.mark.parametrize(
    ("sent", "number"),
    [
        ("", None),
        ("boot-7", 7),
        ("other-7", -1),
        ("boot-", -1),
        ("boot-x", -1),
        ("7", -1),
        ("boot-" + "9" * 19, -1),
    ],
)
def test_last_event_ids_of_another_bus_are_recognized(sent: str, number: int | None) -> None:
    assert number_of(sent, "boot") == number
