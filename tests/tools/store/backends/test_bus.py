"""The contract of buses, kept by that of one process and by one of another transport."""

import asyncio
from collections.abc import Callable

import pytest

from deskhand.tools.store.backends.bus import Bus
from deskhand.tools.store.backends.local_bus import LocalBus
from tests.tools.store.backends.broker_bus import Broker, BrokerBus
from tests.tools.store.backends.bus_contract import (
    CONTRACT,
    LIMIT,
    STATUS,
    Heard,
    Scenario,
    TaskEnds,
)

Opened = Callable[[str], Bus]


def local_ends() -> Opened:
    first = LocalBus()
    return lambda name: first if name == "one" else LocalBus(first)


def broker_ends() -> Opened:
    broker = Broker()
    return lambda name: BrokerBus(broker, name)


BUSES = [local_ends, broker_ends]


@pytest.mark.parametrize("opened", BUSES, ids=lambda one: one.__name__)
@pytest.mark.parametrize("scenario", CONTRACT, ids=lambda one: one.__name__)
def test_the_bus_keeps_the_contract(scenario: Scenario, opened: Callable[[], Opened]) -> None:
    async def main() -> None:
        ends = TaskEnds(opened())
        try:
            async with asyncio.timeout(LIMIT):
                await scenario(ends)
        finally:
            await ends.close()

    asyncio.run(main())


def test_the_only_end_in_a_process_misses_nothing_and_hears_nothing() -> None:
    async def main() -> None:
        ends, heard = TaskEnds(local_ends()), Heard()
        bus = await ends.open("one")
        bus.publish(STATUS)
        await ends.listen("one", heard)
        bus.publish(STATUS)
        bus.send("text", "a", {"text": "Hello"})
        await ends.close()
        assert heard == Heard()

    asyncio.run(main())
