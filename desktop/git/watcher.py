"""Look at a chat's repositories whenever something may have changed in them."""

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
        """Return it; blocking. Raises Unreadable."""


@dataclass(frozen=True)
class WatchIntervals:
    """How often is looked. Seconds."""

    longest: float = 30.0
    """Without any sign of a change."""
    shortest: float = 1.0
    """Between two looks, however many signs there are."""


class Watcher:
    """Watches for any number of listeners; few looks at a time."""

    def __init__(
        self,
        store: PathStore,
        reader: Reader,
        pace: WatchIntervals | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._reader = reader
        self._pace = pace or WatchIntervals()
        self._clock = clock
        self._wall = wall
        self._looking = asyncio.Semaphore(2)

    async def changes(self, chat_id: str, asked: asyncio.Event) -> AsyncGenerator[str, None]:
        """Yield a message for each change, the first about everything; close it.

        ``asked``: look now.
        """
        known = Known()
        with self._store.subscribed(chat_id) as touched:
            while True:
                began = self._clock()
                touched.clear()
                asked.clear()
                for message in await self._look(chat_id, known):
                    yield message
                await _either(touched, asked, self._pace.longest)
                pause = began + self._pace.shortest - self._clock()
                if pause > 0:
                    await asyncio.sleep(pause)

    async def _look(self, chat_id: str, known: Known) -> list[str]:
        async with self._looking:
            found = await asyncio.to_thread(self._found, self._store.paths(chat_id), known.roots)
        at = datetime.fromtimestamp(self._wall(), UTC).isoformat().replace("+00:00", "Z")
        return messages(known.news(found), at)

    def _found(self, paths: Sequence[str], before: Sequence[str]) -> dict[str, Repository | None]:
        roots = dict.fromkeys([root for path in paths if (root := root_of(path))])
        found: dict[str, Repository | None] = {
            root: None for root in before if not is_repository(Path(root))
        }
        for root in dict.fromkeys([*before, *roots]):
            if root not in found:
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
