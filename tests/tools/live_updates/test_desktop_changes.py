import asyncio

from deskhand.tools.live_updates.desktop_changes import DesktopChanges


def test_a_change_is_reported_to_each_subscriber_until_it_ends() -> None:
    async def scenario() -> None:
        states: set[str] = set()
        changes = DesktopChanges(lambda: frozenset(states))
        first, second = asyncio.Event(), asyncio.Event()
        end_first = changes.subscribe(first.set)
        end_second = changes.subscribe(second.set)
        # The watch has read the state before it changes.
        await asyncio.sleep(0)
        states.add("one")
        async with asyncio.timeout(20):
            await first.wait()
            await second.wait()
        end_first()
        end_second()
        # Nothing is compared while nothing is subscribed; later subscriptions work again.
        again = asyncio.Event()
        changes.subscribe(again.set)
        await asyncio.sleep(0)
        states.add("two")
        async with asyncio.timeout(20):
            await again.wait()
        await changes.close()

    asyncio.run(scenario())


def test_closing_without_a_subscriber_is_fine() -> None:
    asyncio.run(DesktopChanges(lambda: 1).close())
