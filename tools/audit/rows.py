"""Queries on the rows of the audit log. Triggers of the database refuse any change of a row."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store.schema import AuditRow

from .chain import AuditEvent, AuditRecord, ChainHead, linked, removal

RETENTION_SECONDS = 400 * 86_400.0
"""Age from which a record is removed; the triggers of the database have the same limit."""


@dataclass(frozen=True)
class AuditFilter:
    """Records that a reader asks for; an empty field selects all."""

    actor: str = ""
    action: str = ""
    subject: str = ""
    before: tuple[float, str, int] | None = None
    """Time, writer and number of a record; only older ones are returned."""


async def append(session: AsyncSession, writer: str, events: Sequence[AuditEvent]) -> None:
    """Append events to the chain of a writer."""
    # Two tasks cannot append at once: the log of a writer writes one transaction at a time.
    newest = await session.scalar(
        select(AuditRow).where(AuditRow.writer == writer).order_by(AuditRow.n.desc()).limit(1)
    )
    head = ChainHead(writer) if newest is None else ChainHead(writer, newest.n, newest.hash)
    for record in linked(events, head):
        event = record.event
        session.add(
            AuditRow(
                writer=record.writer,
                n=record.n,
                at=event.at,
                actor=event.actor,
                action=event.action,
                subject=event.subject,
                details=event.details,
                previous=record.previous,
                hash=record.hash,
            )
        )
    await session.flush()


async def newest(session: AsyncSession, wanted: AuditFilter, limit: int) -> list[AuditRecord]:
    """Return records, the newest first."""
    query = select(AuditRow).order_by(AuditRow.at.desc(), AuditRow.writer.desc(), AuditRow.n.desc())
    for column, value in (
        (AuditRow.actor, wanted.actor),
        (AuditRow.action, wanted.action),
        (AuditRow.subject, wanted.subject),
    ):
        if value:
            query = query.where(column == value)
    if wanted.before is not None:
        at, writer, n = wanted.before
        older = (AuditRow.at < at) | (
            (AuditRow.at == at)
            & ((AuditRow.writer < writer) | ((AuditRow.writer == writer) & (AuditRow.n < n)))
        )
        query = query.where(older)
    return [_record(row) for row in await session.scalars(query.limit(limit))]


async def all_records(session: AsyncSession) -> AsyncIterator[AuditRecord]:
    """Yield all records by writer and number."""
    query = select(AuditRow).order_by(AuditRow.writer, AuditRow.n)
    async for row in await session.stream_scalars(query.execution_options(yield_per=1000)):
        yield _record(row)


async def expire(session: AsyncSession, writer: str, now: float) -> int:
    """Remove the records that are too old, and record that; return their number.

    The newest record of a chain always stays, because the next one continues it.
    """
    removed = 0
    for chain in list(await session.scalars(select(AuditRow.writer).distinct())):
        last = await session.scalar(
            select(AuditRow)
            .where(AuditRow.writer == chain, AuditRow.n <= await _last_expired(session, chain, now))
            .order_by(AuditRow.n.desc())
            .limit(1)
        )
        if last is None:
            continue
        event = removal(_record(last), now)
        result = await session.execute(
            delete(AuditRow).where(AuditRow.writer == chain, AuditRow.n <= last.n)
        )
        removed += result.rowcount  # type: ignore[attr-defined]
        await append(session, writer, [event])
    return removed


async def _last_expired(session: AsyncSession, chain: str, now: float) -> int:
    # The clock may have been set back, so an old record may follow a young one: it stays.
    young = select(func.min(AuditRow.n)).where(
        AuditRow.writer == chain, AuditRow.at > now - RETENTION_SECONDS
    )
    newest = select(func.max(AuditRow.n)).where(AuditRow.writer == chain)
    first_kept = await session.scalar(young) or await session.scalar(newest) or 0
    return first_kept - 1


def _record(row: AuditRow) -> AuditRecord:
    event = AuditEvent(row.at, row.actor, row.action, row.subject, row.details)
    return AuditRecord(row.writer, row.n, event, row.previous, row.hash)
