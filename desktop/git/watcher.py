"""Scans a chat's repositories whenever they may have changed.

A scan costs several git commands. It is triggered by touched paths, by a client's refresh, and
after an interval, and is limited in rate by `WatchIntervals` and in number by a semaphore.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from .errors import Unreadable
from .repository_state import Known, Repository, messages
from .touched_paths import PathStore


class RepositoryReader(Protocol):
    """Finds and reads working trees."""

    async def roots(
        self, paths: Sequence[str], known: Sequence[str]
    ) -> tuple[Sequence[str], Sequence[str]]:
        """Return which known working trees are gone, and those known or with one of the paths.

        Raises:
            Unreadable: If it is not known.
        """

    async def read(self, root: str) -> Repository:
        """Return the state of a working tree; raises Unreadable."""


@dataclass(frozen=True)
class WatchIntervals:
    """Intervals between scans, in seconds."""

    longest: float = 30.0
    """Interval without a sign of a change."""
    shortest: float = 1.0
    """Minimum interval, however many signs of changes there are."""


class Watcher:
    """Scans for any number of listeners, two scans at a time."""

    def __init__(
        self,
        store: PathStore,
        reader: RepositoryReader,
        intervals: WatchIntervals | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._reader = reader
        self._intervals = intervals or WatchIntervals()
        self._clock = clock
        self._wall = wall
        self._scans = asyncio.Semaphore(2)

    async def changes(self, chat_id: str, refresh: asyncio.Event) -> AsyncGenerator[str, None]:
        """Yield messages about changes, the first about all repositories. The caller closes it.

        Setting ``refresh`` starts a scan at once.
        """
        known = Known()
        with self._store.subscribed(chat_id) as touched:
            while True:
                began = self._clock()
                # Cleared before the scan: a change during it sets the event again and leads to
                # another scan.
                touched.clear()
                refresh.clear()
                for message in await self._scan(chat_id, known):
                    yield message
                await _either(touched, refresh, self._intervals.longest)
                pause = began + self._intervals.shortest - self._clock()
                if pause > 0:
                    await asyncio.sleep(pause)

    async def _scan(self, chat_id: str, known: Known) -> list[str]:
        async with self._scans:
            found = await self._read_roots(self._store.paths(chat_id), known.roots)
        at = datetime.fromtimestamp(self._wall(), UTC).isoformat().replace("+00:00", "Z")
        return messages(known.diff(found), at)

    async def _read_roots(
        self, paths: Sequence[str], known_roots: Sequence[str]
    ) -> dict[str, Repository | None]:
        found: dict[str, Repository | None] = {}
        # A repository that cannot be read now is left out, so that its last reported state stays.
        with suppress(Unreadable):
            gone, present = await self._reader.roots(paths, known_roots)
            found.update(dict.fromkeys(gone))
            for root in present:
                with suppress(Unreadable):
                    found[root] = await self._reader.read(root)
        return found


async def _either(first: asyncio.Event, second: asyncio.Event, seconds: float) -> None:
    waiting = [asyncio.ensure_future(event.wait()) for event in (first, second)]
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
