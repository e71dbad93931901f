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
from pathlib import Path
from typing import Protocol

from .errors import Unreadable
from .repositories import is_repository, root_of
from .repository_state import Known, Repository, messages
from .touched_paths import PathStore


class Reader(Protocol):
    """Reads the state of a working tree."""

    def read(self, root: str) -> Repository:
        """Return the state. Blocking. Raises Unreadable."""


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
        reader: Reader,
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
            found = await asyncio.to_thread(
                self._read_roots, self._store.paths(chat_id), known.roots
            )
        at = datetime.fromtimestamp(self._wall(), UTC).isoformat().replace("+00:00", "Z")
        return messages(known.diff(found), at)

    def _read_roots(
        self, paths: Sequence[str], known_roots: Sequence[str]
    ) -> dict[str, Repository | None]:
        roots = dict.fromkeys([root for path in paths if (root := root_of(path))])
        found: dict[str, Repository | None] = {
            root: None for root in known_roots if not is_repository(Path(root))
        }
        for root in dict.fromkeys([*known_roots, *roots]):
            if root not in found:
                # A repository that cannot be read now is left out, so that its last reported state
                # stays.
                with suppress(Unreadable):
                    found[root] = self._reader.read(root)
        return found


async def _either(first: asyncio.Event, second: asyncio.Event, seconds: float) -> None:
    waiting = [asyncio.ensure_future(event.wait()) for event in (first, second)]
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
