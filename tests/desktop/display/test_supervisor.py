import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from deskhand.desktop.display.supervisor import DisplaySupervisor
from deskhand.desktop.errors import DisplayGone, DisplayNotReady

LIMIT = 20


class FakeInstance:
    """Starts when it may, and ends on request."""

    def __init__(self, number: int, ended: Callable[[], None], factory: "Factory") -> None:
        self.number = number
        self.alive = True
        self.opened = self.closed = False
        self._ended = ended
        self._factory = factory

    def open(self) -> None:
        if not self._factory.may_start.wait(LIMIT):
            raise AssertionError("never allowed to start")
        if self._factory.refusing:
            raise OSError("no")
        if self._factory.failures:
            raise self._factory.failures.pop(0)
        if self._factory.stillborn:
            self._factory.stillborn -= 1
            self.die()
        self.opened = True

    def close(self) -> None:
        self.closed = True

    def die(self) -> None:
        self.alive = False
        self._ended()


class Factory:
    def __init__(self) -> None:
        self.instances: list[FakeInstance] = []
        self.failures: list[Exception] = []
        self.stillborn = 0
        self.refusing = False
        self.may_start = threading.Event()
        self.may_start.set()
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.now = 1000.0

    def __call__(self, number: int, ended: Callable[[], None]) -> FakeInstance:
        self.instances.append(FakeInstance(number, ended, self))
        # So long ago that no start has to wait for the one before.
        self.now += 100.0
        return self.instances[-1]

    def publish(self, kind: str, data: dict[str, Any]) -> None:
        self.events.append((kind, data))


@contextmanager
def displayed(factory: Factory) -> Iterator[DisplaySupervisor[FakeInstance]]:
    with DisplaySupervisor(factory, factory.publish, lambda: factory.now) as display:
        yield display


def test_it_opens_one_instance_and_closes_it() -> None:
    factory = Factory()
    with displayed(factory) as display:
        assert display.current() is display.newest is factory.instances[0]
        assert display.status()["state"] == "running"
    assert factory.instances[0].closed
    assert factory.events == []
    display.close()


def test_the_error_of_a_failed_first_start_is_raised() -> None:
    factory = Factory()
    factory.failures = [DisplayNotReady(":1", 10.0, "no screens found")]
    with pytest.raises(DisplayNotReady, match="no screens"), displayed(factory):
        pass


def test_after_an_end_the_next_call_finds_the_next_instance() -> None:
    factory = Factory()
    with displayed(factory) as display:
        factory.instances[0].die()
        assert display.current(LIMIT).number == 2
        assert factory.instances[0].closed
        assert display.status()["restarts"] == 1
        assert display.status()["last_end"] == "the X server ended"
    assert [kind for kind, _ in factory.events] == ["display_restarted"]
    assert factory.instances[1].closed


def test_an_instance_that_is_lost_for_another_reason_is_replaced_too() -> None:
    factory = Factory()
    with displayed(factory) as display:
        first = display.current()
        display.lost(first, "connection lost")
        assert display.current(LIMIT).number == 2
        display.lost(first, "reported late")
        assert display.current().number == 2
        assert display.status()["last_end"] == "connection lost"


def test_while_it_starts_calls_wait_only_as_long_as_they_like() -> None:
    factory = Factory()
    with displayed(factory) as display:
        factory.may_start.clear()
        factory.instances[0].die()
        assert display.status()["state"] == "starting"
        with pytest.raises(DisplayNotReady, match="the X server ended"):
            display.present()
        factory.may_start.set()
        assert display.current(LIMIT).number == 2


def test_a_start_that_fails_is_tried_again() -> None:
    factory = Factory()
    with displayed(factory) as display:
        factory.failures = [DisplayNotReady(":1", 1.0), OSError("no pipe")]
        factory.instances[0].die()
        assert display.current(LIMIT).number == 4
        assert display.status()["last_end"] == "no pipe"


def test_an_instance_that_ends_before_it_is_listened_to_is_noticed() -> None:
    factory = Factory()
    with displayed(factory) as display:
        factory.stillborn = 1
        factory.instances[0].die()
        until = threading.Event()
        while display.newest.number < 3 and not until.wait(0.001):
            pass
        assert display.current(LIMIT).number == 3


def test_ends_without_pause_make_the_next_start_wait_and_calls_hear_so_at_once() -> None:
    factory = Factory()
    with DisplaySupervisor(factory, factory.publish, lambda: 5.0) as display:
        for number in range(1, 8):
            factory.failures.append(OSError(f"try {number}"))
        factory.instances[0].die()
        tried = threading.Event()
        while (display.next_start_s or 0.0) < 0.5 and not tried.wait(0.001):
            pass
        with pytest.raises(DisplayNotReady):
            display.current(0.1)


def test_coroutines_wait_without_a_thread() -> None:
    async def scenario() -> None:
        factory = Factory()
        display = DisplaySupervisor(factory, factory.publish, lambda: factory.now)
        display.open()
        await display.wait_ready()
        factory.may_start.clear()
        factory.instances[0].die()
        waiting = [asyncio.create_task(display.wait_ready(LIMIT)) for _ in range(3)]
        with pytest.raises(DisplayNotReady):
            await display.wait_ready(0.001)
        factory.may_start.set()
        await asyncio.gather(*waiting)
        await asyncio.to_thread(display.close)

    asyncio.run(asyncio.wait_for(scenario(), LIMIT))


def test_closing_while_it_starts_ends_those_who_wait() -> None:
    async def scenario() -> None:
        factory = Factory()
        display = DisplaySupervisor(factory, factory.publish, lambda: factory.now)
        display.open()
        factory.refusing = True
        factory.may_start.clear()
        factory.instances[0].die()
        waiting = asyncio.create_task(display.wait_ready(LIMIT))
        await asyncio.sleep(0)
        closing = asyncio.create_task(asyncio.to_thread(display.close))
        factory.may_start.set()
        await closing
        with pytest.raises(DisplayGone):
            await waiting
        with pytest.raises(DisplayGone):
            display.current()

    asyncio.run(asyncio.wait_for(scenario(), LIMIT))


def test_before_it_is_open_there_is_no_life() -> None:
    factory = Factory()
    with pytest.raises(DisplayGone):
        _ = DisplaySupervisor(factory, factory.publish).newest


def test_an_instance_that_ends_while_the_display_is_closed_is_closed_too() -> None:
    factory = Factory()
    reporting, go_on = threading.Event(), threading.Event()

    def publish(kind: str, data: dict[str, Any]) -> None:
        reporting.set()
        assert go_on.wait(LIMIT)

    display = DisplaySupervisor(factory, publish, lambda: factory.now)
    display.open()
    factory.instances[0].die()
    assert reporting.wait(LIMIT)
    factory.instances[1].die()
    closing = threading.Thread(target=display.close)
    closing.start()
    go_on.set()
    closing.join(LIMIT)
    assert all(instance.closed for instance in factory.instances)


@contextmanager
def deferred(factory: Factory) -> Iterator[DisplaySupervisor[FakeInstance]]:
    with DisplaySupervisor(factory, factory.publish, lambda: factory.now, deferred=True) as display:
        yield display


def test_a_deferred_display_waits_for_its_first_use_and_its_start() -> None:
    factory = Factory()
    with deferred(factory) as display:
        assert (display.status()["state"], display.latest) == ("absent", None)
        with pytest.raises(DisplayNotReady):
            display.present()
        assert display.status()["state"] == "absent"
        with pytest.raises(DisplayNotReady, match="at its first use"):
            display.current(0.001)
        assert (display.status()["state"], factory.instances) == ("wanted", [])
        display.start()
        display.start()
        assert display.current(LIMIT) is display.latest is factory.instances[0]
        assert (display.state, len(factory.instances)) == ("running", 1)
    assert factory.instances[0].closed
    assert factory.events == []


def test_a_deferred_display_that_was_started_is_replaced_as_any_other() -> None:
    factory = Factory()
    factory.failures = [DisplayNotReady(":1", 1.0)]
    with deferred(factory) as display:
        display.start()
        assert display.current(LIMIT).number == 2
        factory.instances[1].die()
        assert display.current(LIMIT).number == 3
        assert display.status()["restarts"] == 2


def test_a_deferred_display_that_nobody_uses_is_closed() -> None:
    factory = Factory()
    with deferred(factory) as display:
        pass
    with pytest.raises(DisplayGone):
        display.current()
    display.start()
    assert factory.instances == []


def test_many_wait_for_the_first_use_of_a_display() -> None:
    async def scenario() -> None:
        factory = Factory()
        display = DisplaySupervisor(factory, factory.publish, deferred=True)
        display.open()
        await display.wait_wanted(0.001)
        assert display.status()["state"] == "absent"
        waiting = [asyncio.create_task(display.wait_wanted(LIMIT)) for _ in range(3)]
        calling = asyncio.create_task(display.wait_ready(LIMIT))
        await asyncio.gather(*waiting)
        assert display.status()["state"] == "wanted"
        display.start()
        await calling
        await display.wait_wanted(LIMIT)
        await asyncio.to_thread(display.close)

    asyncio.run(asyncio.wait_for(scenario(), LIMIT))
