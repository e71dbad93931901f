"""Sessions and issued tokens as rows of the database, with digests of their secrets."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store.database import Store
from deskhand.tools.store.schema import BrowserSessionRow, IssuedTokenRow
from deskhand.tools.store.tables.base import DatabaseTime
from deskhand.tools.store.tables.shared import DeploymentFactRow
from deskhand.vncbridge.auth.credentials import Issued, Session


class CredentialRows:
    """Sessions and issued tokens as rows of a database that no other control plane uses."""

    shared = False

    def __init__(self, store: Store) -> None:
        self._store = store

    async def add_session(self, cookie_digest: str, session: Session) -> None:
        """Store a session, and remove those that have ended."""

        async def write(rows: AsyncSession) -> None:
            await rows.execute(
                delete(BrowserSessionRow).where(BrowserSessionRow.ends_at <= DatabaseTime())
            )
            rows.add(_session_row(cookie_digest, session))

        await self._store.write(write)

    async def remove_session(self, cookie_digest: str) -> None:
        """Remove a session."""
        gone = delete(BrowserSessionRow).where(BrowserSessionRow.digest == cookie_digest)
        await self._store.write(lambda rows: rows.execute(gone))

    async def add_token(self, token: Issued) -> None:
        """Store an issued token, and remove those that have ended."""

        async def write(rows: AsyncSession) -> None:
            over = IssuedTokenRow.ends_at <= DatabaseTime()
            await rows.execute(delete(IssuedTokenRow).where(over))
            rows.add(_token_row(token))

        await self._store.write(write)

    async def remove_token(self, token_id: str) -> bool:
        """Remove a token and its sessions; return whether it was stored."""

        async def write(rows: AsyncSession) -> bool:
            token = await rows.get(IssuedTokenRow, token_id)
            if token is None:
                return False
            await rows.delete(token)
            await rows.execute(
                delete(BrowserSessionRow).where(BrowserSessionRow.token_id == token_id)
            )
            return True

        return await self._store.write(write)

    async def remove_sessions(self, token_id: str) -> None:
        """Remove the sessions of a token or a person."""
        gone = delete(BrowserSessionRow).where(BrowserSessionRow.token_id == token_id)
        await self._store.write(lambda rows: rows.execute(gone))

    async def session(self, cookie_digest: str) -> Session | None:
        """Return a stored session."""
        row = await self._store.read(lambda s: s.get(BrowserSessionRow, cookie_digest))
        return None if row is None else _session(row)

    async def token(self, token_digest: str) -> Issued | None:
        """Return a stored token."""
        query = select(IssuedTokenRow).where(IssuedTokenRow.digest == token_digest)
        row = await self._store.read(lambda s: s.scalar(query))
        return None if row is None else _token(row)

    async def announce(self, name: str) -> None:
        """Report nothing: no other control plane uses the records."""

    async def sessions(self) -> dict[str, Session]:
        """Return the sessions by the digest of their cookie."""
        rows = await self._store.read(lambda s: s.scalars(select(BrowserSessionRow)))
        return {one.digest: _session(one) for one in rows}

    async def tokens(self) -> list[Issued]:
        """Return the issued tokens, the oldest first."""
        ordered = select(IssuedTokenRow).order_by(IssuedTokenRow.created_at)
        rows = await self._store.read(lambda s: s.scalars(ordered))
        return [_token(one) for one in rows]

    async def fact(self, name: str, value: str) -> str:
        """Return a fact of the deployment; ``value`` becomes it if there is none yet."""

        async def write(session: AsyncSession) -> str:
            found = await session.get(DeploymentFactRow, name)
            if found is None:
                # Of two that insert it at once, the second is repeated and finds the first's.
                found = DeploymentFactRow(name=name, value=value)
                session.add(found)
                await session.flush()
            return found.value

        return await self._store.write(write)

    async def adopt(self, earlier: Mapping[str, Any]) -> None:
        """Store what a file of an earlier version has; twice is fine.

        Raises:
            TypeError, ValueError, AttributeError: If it has something else.
        """
        sessions = {
            name: Session(**_read(one)) for name, one in earlier.get("sessions", {}).items()
        }
        issued = [Issued(**_read(one)) for one in earlier.get("tokens", [])]

        async def write(rows: AsyncSession) -> None:
            for name, session in sessions.items():
                await rows.merge(_session_row(name, session))
            for token in issued:
                await rows.merge(_token_row(token))

        await self._store.write(write)


def _session(row: BrowserSessionRow) -> Session:
    return Session(row.name, row.ends_at, tuple(row.scopes), row.token_id)


def _token(row: IssuedTokenRow) -> Issued:
    return Issued(
        *(row.id, row.name, tuple(row.scopes), row.created_at, row.ends_at, row.digest),
        row.created_by,
    )


def _session_row(cookie_digest: str, one: Session) -> BrowserSessionRow:
    return BrowserSessionRow(
        digest=cookie_digest,
        name=one.name,
        scopes=list(one.scopes),
        ends_at=one.ends,
        token_id=one.token,
    )


def _token_row(one: Issued) -> IssuedTokenRow:
    return IssuedTokenRow(
        id=one.id,
        name=one.name,
        scopes=list(one.scopes),
        created_at=one.created,
        ends_at=one.ends,
        digest=one.digest,
        created_by=one.created_by,
    )


def _read(row: dict[str, Any]) -> dict[str, Any]:
    # JSON has no tuples, and a session of an earlier version has no scopes.
    return {**row, "scopes": tuple(row["scopes"])} if "scopes" in row else row
