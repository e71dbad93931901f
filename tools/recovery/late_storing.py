"""Repeated storing of recordings that stayed on desktops that run.

A turn that cannot store its recording in time, as the disk is full or the database locked, leaves
it on the desktop. The row of the recording lists its *takes*, each from a start of the recorder to
its stop. Each take is copied from the desktop service again, with a growing delay, until

- it is stored: the turn, the rows of its files and the list change in one transaction, and then
  the desktop removes its own copy;
- the desktop ends: :mod:`.recovery` cancels this work and stores what is in the desktop's folder;
- :data:`LATE_SECONDS` are over, or the desktop refuses: then the end of the desktop decides.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from deskhand.tools.conversation.run_recording import FetchedRecording, StayingRecording
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreError, UnknownRow
from deskhand.tools.store.faults.policy import retry_delay
from deskhand.tools.store.schema import LeftRecordingRow

from . import rows
from .ports import RunningDesktops

log = logging.getLogger(__name__)
Json = dict[str, Any]

FIRST_DELAY, LONGEST_DELAY = 2.0, 60.0
"""Seconds between two attempts. Each may fill the disk until it fails, so they are not frequent."""

LATE_SECONDS = 24 * 3600.0
"""Time for which the attempts are repeated."""


class LateStoring:
    """Stores the recordings that stay on one desktop, while it runs.

    ``discard`` is awaited with the ids of files whose rows were deleted, ``on_stored`` with the id
    of each chat that got a recording.
    """

    def __init__(
        self,
        store: Store,
        source: RunningDesktops,
        desktop_id: str,
        discard: Callable[[Sequence[str]], Awaitable[None]],
        on_stored: Callable[[str], Awaitable[None]],
        now: Callable[[], float],
        first_delay: float,
    ) -> None:
        self._store = store
        self._source = source
        self._desktop_id = desktop_id
        self._discard = discard
        self._on_stored = on_stored
        self._now = now
        self._first_delay = first_delay
        self._refused: list[Json] = []
        """Takes that the desktop does not send."""
        self.added = asyncio.Event()
        """Set when a recording was left on the desktop."""

    async def run(self) -> None:
        """Store each recording that is left on the desktop; run until cancelled."""
        attempts = 0
        while True:
            try:
                waiting = await self._attempt_all()
            except StoreError as error:
                log.info("recordings on desktop %s wait: %s", self._desktop_id, error)
                waiting = True
            if not waiting:
                attempts = 0
                await self.added.wait()
            self.added.clear()
            attempts += 1
            await asyncio.sleep(retry_delay(attempts, self._first_delay, LONGEST_DELAY))

    async def _attempt_all(self) -> bool:
        """Try each take once; return whether another attempt must follow."""
        waiting = False
        for row in await self._store.read(lambda db: rows.staying(db, self._desktop_id)):
            for take in row.staying or []:
                if take and take not in self._refused and self._now() < row.found_at + LATE_SECONDS:
                    waiting = not await self._is_done(row, take) or waiting
        return waiting

    async def _is_done(self, row: LeftRecordingRow, take: Json) -> bool:
        """Try one take; return whether it needs no other attempt, also if the database fails."""
        try:
            return await self._attempt(row, take)
        except UnknownRow:
            # The chat was deleted. What it left is removed when its desktop has ended.
            self._refused.append(take)
            return True
        except StoreError as error:
            log.info("a recording on desktop %s waits: %s", self._desktop_id, error)
            return False

    async def _attempt(self, row: LeftRecordingRow, take: Json) -> bool:
        """Try one take; return whether it needs no other attempt.

        Raises:
            StoreError: If the chat was deleted, or the database cannot be used.
        """
        chat_id, staying = row.recording_id, StayingRecording(**take)
        began = staying.metadata["started_at"]
        # The end of a turn that is still at work would replace what is written here.
        if not await self._store.read(lambda db: rows.is_over(db, chat_id, began)):
            return False
        found = await self._source.fetch(chat_id, self._desktop_id, staying)
        if found.session is None:
            if found.final:
                self._refused.append(take)
            return found.final
        await self._write(row.id, chat_id, take, found)
        if found.whole:
            await self._source.clear(chat_id, self._desktop_id, staying)
        return True

    async def _write(self, row_id: str, chat_id: str, take: Json, found: FetchedRecording) -> None:
        gone = await self._store.write(
            lambda db: rows.add_fetched(db, row_id, chat_id, take, found)
        )
        await self._discard(gone)
        await self._on_stored(chat_id)
