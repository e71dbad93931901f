"""Waits until conditions of one desktop are met, driven by events.

A wait subscribes to the events first and reads the facts second, so that it misses no change. Each
paint, window event, exit of the process and change of a page's URL wakes it; then it reads only the
facts that its conditions need, and compares them.

Widgets and titles may follow the paint that they belong to: the facts are read again for
`FOLLOWING` seconds after each paint. Between two reads there is a pause half as long as the last
read, so that a screen that moves all the time costs at most two thirds of a core. A desktop on
which nothing happens costs nothing until the timeout.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, Self

from deskhand.desktop.browser.page_addresses import PageAddresses, PagePipe
from deskhand.desktop.computer.observer import Observer
from deskhand.desktop.events.bus import EventBus

from .conditions import Conditions, Facts, unmet
from .screen_watch import ScreenWatch

FOLLOWING = 1.0
"""Seconds after a paint in which texts and titles may still follow."""
_LEAST_PAUSE = 0.02
"""Least pause in seconds between two reads."""


class ExitWait(Protocol):
    """A process that may exit."""

    async def wait_exit(self) -> None:
        """Return when it has exited."""


@dataclass(frozen=True)
class Sources:
    """Where the facts come from. ``texts`` and ``titles`` block."""

    texts: Callable[[], tuple[str, ...]]
    titles: Callable[[], tuple[str, ...]]
    pipe: Callable[[], PagePipe | None]
    events: EventBus


@dataclass(frozen=True)
class WaitResult:
    """The end of a wait: what was not met, empty if all was, and what was there."""

    unmet: tuple[str, ...]
    facts: Facts
    seconds: float


class ScreenWait:
    """Waits of one desktop; several may run at once."""

    def __init__(
        self,
        observer: Observer,
        sources: Sources,
        check_view: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``check_view`` raises while a person is in control in private."""
        self._observer = observer
        self._sources = sources
        self._check_view = check_view
        self._clock = clock

    async def until(self, wanted: Conditions, process: ExitWait | None = None) -> WaitResult:
        """Wait until all conditions hold, or the timeout. Cancelling is harmless.

        Raises:
            HumanInControl: While a person is in control in private.
            DisplayGone: When the display is lost.
            NoAccessibility: If a text is waited for and there is no AT-SPI.
        """
        self._check_view()
        began = self._clock()
        quiet = wanted.quiet_ms / 1000
        async with self._observer.watching() as (damage, before):
            watch = ScreenWatch(self._observer, before, damage, quiet, self._clock)
            async with _Run(wanted, self._sources, watch, process, self._clock) as run:
                while True:
                    facts = await run.facts()
                    self._check_view()
                    missing = unmet(wanted, facts)
                    passed = self._clock() - began
                    if not missing or passed >= wanted.seconds:
                        return WaitResult(missing, facts, passed)
                    await run.next_event(wanted.seconds - passed)


class _Run:
    """One wait: its tasks, and the reads of its facts."""

    def __init__(
        self,
        wanted: Conditions,
        sources: Sources,
        watch: ScreenWatch,
        process: ExitWait | None,
        clock: Callable[[], float],
    ) -> None:
        self._wanted = wanted
        self._sources = sources
        self._watch = watch
        self._process = process
        self._clock = clock
        self._woken = asyncio.Event()
        self._exited = False
        self._tasks: list[asyncio.Task[None]] = []
        self._pages = PageAddresses(sources.pipe, self._spawn, self._woken.set)
        self._read_at = self._cost = 0.0

    async def __aenter__(self) -> Self:
        self._spawn(self._watch.follow(self._woken.set))
        self._spawn(self._follow_windows())
        if self._process is not None:
            self._spawn(self._follow_process(self._process))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._pages.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def facts(self) -> Facts:
        """Read what the conditions depend on."""
        self._woken.clear()
        for task in self._tasks:
            # A task that has failed, as after the loss of the display, ends the wait.
            if task.done():
                task.result()
        began, wanted = self._clock(), self._wanted
        texts = await asyncio.to_thread(self._sources.texts) if wanted.text else ()
        region = wanted.changed_region
        found = Facts(
            texts,
            await asyncio.to_thread(self._sources.titles),
            self._pages.urls() if wanted.url else (),
            changed=region is not None and await self._watch.changed(region),
            quiet=self._watch.rest_in() <= 0,
            exited=self._exited,
        )
        self._read_at = self._clock()
        self._cost = self._read_at - began
        return found

    async def next_event(self, most: float) -> None:
        """Return when the facts must be read again, at the latest after ``most`` seconds."""
        due = [most]
        if self._wanted.quiet_ms:
            due.append(self._watch.rest_in())
        if self._clock() - self._watch.painted_at < FOLLOWING:
            due.append(self._pause())
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, min(due))):
                await self._woken.wait()
        # Only a wait that reads often pauses: the first event after a rest is answered at once.
        pause = self._pause() - (self._clock() - self._read_at)
        await asyncio.sleep(max(0.0, min(pause, most)))

    def _pause(self) -> float:
        return max(_LEAST_PAUSE, self._cost / 2)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        task.add_done_callback(lambda _: self._woken.set())
        self._tasks.append(task)

    async def _follow_windows(self) -> None:
        with self._sources.events.subscribe() as events:
            while not events.ended:
                if await events.next() is not None:
                    self._woken.set()

    async def _follow_process(self, process: ExitWait) -> None:
        await process.wait_exit()
        self._exited = True
        self._woken.set()
