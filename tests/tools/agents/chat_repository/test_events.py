import asyncio

from deskhand.tools.agents.chat_repository.events import ChatEvent, ChatSubscription, EventHub


async def _kinds(subscription: ChatSubscription, count: int) -> list[str]:
    return [(await anext(subscription)).kind for _ in range(count)]


def test_events_after_subscribing_are_queued_before_the_first_read() -> None:
    async def scenario() -> list[str]:
        hub = EventHub()
        with hub.subscribe("a") as subscription:
            hub.publish("status", "a")
            hub.publish("step", "a")
            return await _kinds(subscription, 2)

    assert asyncio.run(scenario()) == ["status", "step"]


def test_a_listener_that_waits_is_woken() -> None:
    async def scenario() -> ChatEvent:
        hub = EventHub(first_id=7)
        subscription = hub.subscribe()
        task = asyncio.create_task(anext(subscription))
        await asyncio.sleep(0)
        hub.publish("status", "a", {"state": "running"})
        return await task

    assert asyncio.run(scenario()) == ChatEvent(7, "status", "a", {"state": "running"})


def test_events_of_other_chats_are_not_received() -> None:
    async def scenario() -> str:
        hub = EventHub()
        subscription = hub.subscribe("a")
        hub.publish("status", "b")
        hub.publish("step", "a")
        return (await anext(subscription)).kind

    assert asyncio.run(scenario()) == "step"


def test_texts_of_one_chat_replace_each_other_while_they_wait() -> None:
    async def scenario() -> list[str]:
        hub = EventHub()
        subscription = hub.subscribe()
        for chat, text in (("a", "H"), ("a", "Hello"), ("b", "W"), ("a", "Hello!")):
            hub.publish("text", chat, {"text": text})
        hub.close()
        return [event.data["text"] async for event in subscription]

    assert asyncio.run(scenario()) == ["Hello", "W", "Hello!"]


def test_a_slow_subscriber_receives_lost() -> None:
    async def scenario() -> list[str]:
        hub = EventHub(limit=2)
        subscription = hub.subscribe()
        for _ in range(3):
            hub.publish("step", "a")
        hub.publish("status", "a")
        return await _kinds(subscription, 2)

    assert asyncio.run(scenario()) == ["lost", "status"]


def test_a_reconnecting_client_receives_the_missed_events() -> None:
    async def scenario() -> list[int]:
        hub = EventHub()
        seen = hub.publish("status", "a")
        hub.publish("step", "a")
        hub.publish("step", "b")
        hub.publish("status", "a")
        subscription = hub.subscribe("a", after=seen.id)
        hub.close()
        return [event.id async for event in subscription]

    assert asyncio.run(scenario()) == [2, 4]


def test_a_client_that_reconnects_too_late_or_with_a_foreign_id_receives_lost() -> None:
    async def scenario() -> list[str]:
        hub = EventHub(limit=2)
        for _ in range(4):
            hub.publish("step", "a")
        late = hub.subscribe(after=1)
        strange = hub.subscribe(after=1000)
        current = hub.subscribe(after=4)
        hub.publish("status", "a")
        return [(await anext(s)).kind for s in (late, strange, current)]

    assert asyncio.run(scenario()) == ["lost", "lost", "status"]


def test_closing_ends_the_listeners_also_those_that_come_later() -> None:
    async def scenario() -> list[ChatEvent]:
        hub = EventHub()
        subscription = hub.subscribe()
        task = asyncio.create_task(_all(subscription))
        await asyncio.sleep(0)
        hub.close()
        await subscription.aclose()
        return await task + await _all(hub.subscribe())

    async def _all(subscription: ChatSubscription) -> list[ChatEvent]:
        return [event async for event in subscription]

    assert asyncio.run(scenario()) == []


def test_a_closed_listener_is_offered_nothing() -> None:
    async def scenario() -> list[ChatEvent]:
        hub = EventHub()
        subscription = hub.subscribe()
        subscription.close()
        hub.publish("status", "a")
        return [event async for event in subscription]

    assert asyncio.run(scenario()) == []


def test_events_of_other_control_planes_are_not_published_to_them() -> None:
    hub = EventHub()
    published: list[str] = []
    hub.on_publish = lambda event: published.append(event.kind)
    events = hub.subscribe()
    hub.publish("status", "a")
    hub.relay("step", "a", {"id": "s"})
    assert published == ["status"]
    assert events.waiting == 2


def test_lost_events_take_the_place_of_all_that_wait() -> None:
    async def main() -> None:
        hub = EventHub(first_id=7)
        every, one = hub.subscribe(), hub.subscribe("a")
        seen = hub.publish("status", "a")
        hub.lose()
        later = hub.publish("status", "a")
        lost = await anext(every), await anext(one)
        assert [(event.kind, event.chat_id) for event in lost] == [("lost", ""), ("lost", "a")]
        assert await anext(every) == await anext(one) == later
        # One that was away meanwhile reads again, too.
        with hub.subscribe(after=seen.id) as returned:
            assert (await anext(returned)).kind == "lost"

    asyncio.run(main())
