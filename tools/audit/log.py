"""The audit log of one control plane: collects events, writes them in order, and reads them.

`note` returns at once; the events of about a second are written together. `record` returns when its
event is in the database, for what must not happen without a record. Events that cannot be written,
because the database has a fault, are kept and written later; if too many wait, a record of their
number takes the place of the rest.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreUnavailable

from . import rows as rows
from .chain import AuditEvent, AuditRecord, ChainVerifier, merged
from .rows import AuditFilter

log = logging.getLogger(__name__)
Json = dict[str, Any]

COLLECT_SECONDS = 1.0
RETRY_SECONDS = 5.0
MOST_WAITING = 10_000


class AuditLog:
    """The audit log; ``writer`` is the id of this control plane, ``now`` returns unix time."""

    def __init__(self, store: Store, writer: str, now: Callable[[], float]) -> None:
        self._store = store
        self._writer = writer
        self._now = now
        self.limit = MOST_WAITING
        """Most events that wait for the database."""
        self._waiting: list[AuditEvent] = []
        self._lost = 0
        self._woken = asyncio.Event()
        self._writing = asyncio.Lock()

    def note(self, actor: str, action: str, subject: str, details: Json | None = None) -> None:
        """Record an event soon."""
        if len(self._waiting) >= self.limit:
            self._lost += 1
            return
        self._waiting.append(AuditEvent(self._now(), actor, action, subject, details or {}))
        self._woken.set()

    async def record(self, actor: str, action: str, subject: str, details: Json) -> None:
        """Record an event, and return when it is in the database.

        Raises:
            StoreUnavailable: If it cannot be written now; it is written later.
        """
        self.note(actor, action, subject, details)
        await self.flush()

    async def flush(self) -> None:
        """Write the events that wait.

        Raises:
            StoreUnavailable: If the database cannot be written.
        """
        async with self._writing:
            events, lost = list(self._waiting), self._lost
            if not events:
                return
            found = merged(events)
            if lost:
                details = {"times": lost}
                found.append(AuditEvent(self._now(), "deskhand", "audit.lost", "", details))
            await self._store.write(lambda session: rows.append(session, self._writer, found))
            del self._waiting[: len(events)]
            self._lost -= lost

    async def run(self, collect: float = COLLECT_SECONDS, retry: float = RETRY_SECONDS) -> None:
        """Write what is noted; never return."""
        while True:
            await self._woken.wait()
            await asyncio.sleep(collect)
            self._woken.clear()
            try:
                await self.flush()
            except StoreUnavailable as error:
                log.warning("the audit log waits for the database: %s", error)
                self._woken.set()
                await asyncio.sleep(retry)

    async def newest(self, wanted: AuditFilter, limit: int) -> Sequence[AuditRecord]:
        """Return records, the newest first, also those that were noted just now."""
        await self.flush()
        return await self._store.read(lambda session: rows.newest(session, wanted, limit))

    async def verify(self) -> ChainVerifier:
        """Return the result of checking all records."""
        await self.flush()
        return await self._store.read(verified)

    async def expire(self) -> int:
        """Remove the records that are older than the retention; return their number."""
        async with self._writing:
            return await self._store.write(
                lambda session: rows.expire(session, self._writer, self._now())
            )


async def verified(session: AsyncSession) -> ChainVerifier:
    """Return the result of checking all records of a database."""
    verifier = ChainVerifier()
    async for record in rows.all_records(session):
        verifier.add(record)
    verifier.finish()
    return verifier
