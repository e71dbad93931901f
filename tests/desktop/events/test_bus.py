import asyncio
import threading
from collections.abc import Awaitable

import pytest

from deskhand.desktop.events.bus import LOST, DesktopEvent, EventBus

LIMIT = 20


def run(scenario: Awaitable[None]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(LIMIT):
            await scenario

    asyncio.run(limited())


def bus(limit: int = 1000) -> EventBus:
    return EventBus("boot", limit, clock=lambda: 12.5)


def test_a_listener_gets_events_after_its_subscription() -> None:
    async def scenario() -> None:
        events = bus()
        events.publish("before")
        with events.subscribe() as listener:
            published = events.publish("window_opened", {"id": 3})
            assert published == DesktopEvent(2, "window_opened", {"id": 3}, 12.5)
            assert await listener.next() == published

    run(scenario())


def test_waiting_ends_after_the_time_given() -> None:
    async def scenario() -> None:
        with bus().subscribe() as listener:
            assert await listener.next(0.001) is None
            assert not listener.ended

    run(scenario())


def test_another_thread_may_publish_to_a_waiting_listener() -> None:
    async def scenario() -> None:
        events = bus()
        with events.subscribe() as listener:
            waiting = asyncio.create_task(listener.next())
            await asyncio.sleep(0)
            thread = threading.Thread(target=events.publish, args=("ping",))
            thread.start()
            found = await waiting
            await asyncio.to_thread(thread.join)
        assert found is not None
        assert found.kind == "ping"

    run(scenario())


@pytest.mark.parametrize(("after", "expected"), [(0, "abc"), (1, "bc"), (3, "")])
def test_a_reconnecting_listener_gets_what_it_missed(after: int, expected: str) -> None:
    async def scenario() -> None:
        events = bus()
        for kind in "abc":
            events.publish(kind)
        with events.subscribe(after) as listener:
            events.publish("d")
            for kind in [*expected, "d"]:
                assert await heard(listener.next(5)) == kind

    run(scenario())


@pytest.mark.parametrize("after", [-1, 0, 6, 99])
def test_a_listener_that_reconnects_too_late_gets_lost(after: int) -> None:
    async def scenario() -> None:
        events = bus(limit=3)
        for number in range(5):
            events.publish(str(number))
        with events.subscribe(after) as listener:
            assert await heard(listener.next(5)) == LOST

    run(scenario())


def test_a_listener_that_does_not_read_gets_lost() -> None:
    async def scenario() -> None:
        events = bus(limit=3)
        with events.subscribe() as listener:
            for number in range(4):
                events.publish(str(number))
            assert await heard(listener.next(5)) == LOST
            events.publish("later")
            assert await heard(listener.next(5)) == "later"

    run(scenario())


def test_a_closed_subscription_delivers_its_queue_and_ends() -> None:
    async def scenario() -> None:
        events = bus()
        listener = events.subscribe()
        waiting = events.subscribe()
        task = asyncio.create_task(waiting.next())
        await asyncio.sleep(0)
        events.publish("last")
        events.close()
        assert await heard(task) == "last"
        assert await waiting.next(5) is None
        assert await heard(listener.next(5)) == "last"
        assert await listener.next(5) is None
        assert listener.ended
        late = events.subscribe(0)
        assert await late.next(5) is None
        assert late.ended

    run(scenario())


def test_a_closed_subscription_gets_nothing() -> None:
    async def scenario() -> None:
        events = bus()
        listener = events.subscribe()
        events.publish("on its way")
        listener.close()
        listener.close()
        events.publish("later")
        assert await listener.next(5) is None

    run(scenario())


def test_publishing_to_a_closed_loop_is_harmless() -> None:
    events = bus()

    async def scenario() -> None:
        events.subscribe()

    run(scenario())
    events.publish("window_opened")
    events.close()


async def heard(coming: Awaitable[DesktopEvent | None]) -> str | None:
    event = await coming
    return None if event is None else event.kind
