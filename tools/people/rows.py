"""Queries on the rows of people, invitations and shared runs."""

from collections.abc import Collection

from sqlalchemy import delete, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store import chats
from deskhand.tools.store.errors import UnknownRow
from deskhand.tools.store.ownership import RunShareRow
from deskhand.tools.store.schema import BrowserSessionRow, ChatFileRow, ChatRow, FileRow
from deskhand.vncbridge.auth.people import credential_of

from .rights import SharedRun
from .tables import InvitationRow, PersonRow


async def everyone(session: AsyncSession) -> list[PersonRow]:
    """Return the people, the oldest first."""
    return list(await session.scalars(select(PersonRow).order_by(PersonRow.created_at)))


async def get(session: AsyncSession, person_id: str) -> PersonRow:
    """Return the row of a person.

    Raises:
        UnknownRow: If there is no such person.
    """
    row = await session.get(PersonRow, person_id)
    if row is None:
        raise UnknownRow("person", person_id)
    return row


async def remove(session: AsyncSession, person_id: str) -> None:
    """Remove a person with invitations, shares and sessions; the runs stay."""
    await session.delete(await get(session, person_id))
    await session.execute(delete(RunShareRow).where(RunShareRow.person_id == person_id))
    token = credential_of(person_id)
    await session.execute(delete(BrowserSessionRow).where(BrowserSessionRow.token_id == token))


async def redeem(session: AsyncSession, digest: str, now: float) -> str:
    """Remove an invitation, and those that have ended; return its person, empty without one."""
    await session.execute(delete(InvitationRow).where(InvitationRow.ends_at <= now))
    # One statement, so that of two at once one gets it.
    used = delete(InvitationRow).where(InvitationRow.digest == digest)
    person_id = await session.scalar(used.returning(InvitationRow.person_id)) or ""
    if person_id:
        signed_in = update(PersonRow).where(PersonRow.id == person_id).values(signed_in_at=now)
        await session.execute(signed_in)
    return person_id


async def shared_with(session: AsyncSession, chat_id: str) -> list[str]:
    """Return the ids of the people with whom a run is shared; raises ``UnknownRow``."""
    await chats.get(session, chat_id)
    query = select(RunShareRow.person_id).where(RunShareRow.chat_id == chat_id)
    return list(await session.scalars(query.order_by(RunShareRow.created_at)))


async def runs(session: AsyncSession, kind: str, name: str) -> list[SharedRun]:
    """Return the runs that a ``chat``, a ``file`` or a ``desktop`` belongs to."""
    match kind:
        case "chat":
            wanted = ChatRow.id == name
        case "desktop":
            wanted = ChatRow.desktop_id == name
        case "file":
            wanted = ChatRow.id.in_(await _chats_of_file(session, name))
        case _:
            return []
    found = list(await session.scalars(select(ChatRow).where(wanted)))
    # A run is shared with what it has started, and not with what has started it.
    whole = {name for one in found for name in (one.id, one.parent_id)}
    shares = select(RunShareRow).where(RunShareRow.chat_id.in_(whole))
    shared = list(await session.scalars(shares))
    return [
        SharedRun(
            one.id,
            one.owner,
            frozenset(
                share.person_id for share in shared if share.chat_id in (one.id, one.parent_id)
            ),
        )
        for one in found
    ]


async def _chats_of_file(session: AsyncSession, file_id: str) -> Collection[str]:
    made = select(FileRow.chat_id).where(FileRow.id == file_id, FileRow.chat_id.is_not(None))
    listed = select(ChatFileRow.chat_id).where(ChatFileRow.file_id == file_id)
    both = await session.scalars(
        select(ChatRow.id).where(or_(ChatRow.id.in_(made), ChatRow.id.in_(listed)))
    )
    return list(both)
