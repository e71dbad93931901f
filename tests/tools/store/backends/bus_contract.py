"""What every bus between control planes keeps: scenarios that are played on each implementation."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from deskhand.tools.store.backends.bus import Bus, BusListener
from deskhand.tools.store.backends.notices import Notice

Json = dict[str, Any]
LIMIT = 60.0
STATUS, STEP = Notice("status", "a"), Notice("step", "a", "s1")


class BusEnds(Protocol):
    """The ends of a bus under test."""

    async def open(self, name: str) -> Bus:
        """Return another end."""

    async def listen(self, name: str, listener: BusListener) -> None:
        """Run an end; return when it hears the others."""

    async def meet(self) -> None:
        """Return when events of the moment reach all that run."""

    async def cut(self, name: str) -> None:
        """Disconnect an end; it does not connect again before `reconnect`."""

    async def reconnect(self, name: str) -> None:
        """Let an end connect again; return when it is connected."""


@dataclass
class Heard:
    """A listener that keeps what it gets."""

    notices: list[Notice] = field(default_factory=list)
    moments: list[tuple[str, str, Json]] = field(default_factory=list)
    misses: int = 0

    def heard(self, notices: Sequence[Notice]) -> None:
        self.notices += notices

    async def missed(self) -> None:
        self.misses += 1

    def relay(self, kind: str, chat_id: str, data: Json) -> None:
        self.moments.append((kind, chat_id, data))


Scenario = Callable[[BusEnds], Awaitable[None]]


async def until(check: Callable[[], Any]) -> None:
    """Return once a condition holds."""
    while not check():  # noqa: ASYNC110 - of ends without an event
        await asyncio.sleep(0.01)


async def joined(ends: BusEnds, name: str) -> tuple[Bus, Heard]:
    """Return an end that runs, and what it hears."""
    bus, heard = await ends.open(name), Heard()
    await ends.listen(name, heard)
    return bus, heard


async def what_one_publishes_is_heard_by_all_others_and_not_by_itself(ends: BusEnds) -> None:
    one, here = await joined(ends, "one")
    two, there = await joined(ends, "two")
    _, beside = await joined(ends, "three")
    one.publish(STATUS)
    one.publish(STEP)
    await until(lambda: len(there.notices) == len(beside.notices) == 2)
    assert there.notices == beside.notices == [STATUS, STEP]
    # It hears the others, and so would have heard itself before.
    two.publish(Notice("deleted", "b"))
    await until(lambda: here.notices)
    assert here.notices == [Notice("deleted", "b")]


async def text_of_the_moment_is_relayed_to_the_others_whole(ends: BusEnds) -> None:
    one, here = await joined(ends, "one")
    two, there = await joined(ends, "two")
    await ends.meet()
    text = {"text": "Hello " + "all " * 4_000}
    one.send("text", "a", text)
    await until(lambda: there.moments)
    assert there.moments == [("text", "a", text)]
    two.send("notice", "a", {"kind": "test"})
    await until(lambda: here.moments)
    assert here.moments == [("notice", "a", {"kind": "test"})]
    assert here.notices == there.notices == []


async def an_end_that_was_cut_off_misses_and_hears_again(ends: BusEnds) -> None:
    one, here = await joined(ends, "one")
    two, there = await joined(ends, "two")
    await ends.cut("two")
    before = there.misses
    one.publish(STATUS)
    await ends.reconnect("two")
    # By `missed`, it reads what it has not heard.
    await until(lambda: there.misses > before)
    one.publish(STEP)
    await until(lambda: STEP in there.notices)
    two.publish(Notice("queue", "b"))
    await until(lambda: here.notices)
    assert here.notices == [Notice("queue", "b")]


async def what_an_end_publishes_while_it_is_cut_off_is_heard_later(ends: BusEnds) -> None:
    _, here = await joined(ends, "one")
    two, _ = await joined(ends, "two")
    await ends.cut("two")
    two.publish(STATUS)
    await ends.reconnect("two")
    await until(lambda: here.notices)
    assert here.notices == [STATUS]


CONTRACT: Collection[Scenario] = (
    what_one_publishes_is_heard_by_all_others_and_not_by_itself,
    text_of_the_moment_is_relayed_to_the_others_whole,
    an_end_that_was_cut_off_misses_and_hears_again,
    what_an_end_publishes_while_it_is_cut_off_is_heard_later,
)


class TaskEnds:
    """Ends that are connected for as long as their tasks run."""

    def __init__(self, opened: Callable[[str], Bus]) -> None:
        self._opened = opened
        self._buses: dict[str, Bus] = {}
        self._listeners: dict[str, BusListener] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def open(self, name: str) -> Bus:
        self._buses[name] = self._opened(name)
        return self._buses[name]

    async def listen(self, name: str, listener: BusListener) -> None:
        self._listeners[name] = listener
        await self.reconnect(name)

    async def meet(self) -> None: ...

    async def cut(self, name: str) -> None:
        task = self._tasks.pop(name)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def reconnect(self, name: str) -> None:
        self._tasks[name] = asyncio.create_task(self._buses[name].run(self._listeners[name]))
        await asyncio.sleep(0)

    async def close(self) -> None:
        for name in tuple(self._tasks):
            await self.cut(name)
