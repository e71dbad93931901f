"""Credentials that several control planes share through one database.

Each control plane has sessions, tokens and people in memory, as one that is alone. What it does not
know it looks up in the rows. What ends is a row for the others (`SharedCredentialRows.announce`),
which each of them reads every second (`follow`), so that a stream ends on all of them within two
seconds. Tickets and codes are rows only: taking one is a single statement, so that of several
control planes one gets it. All times are those of the database (`DatabaseClock`).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import asdict

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreError
from deskhand.tools.store.tables.base import DatabaseTime, database_time
from deskhand.tools.store.tables.shared import (
    CredentialEndRow,
    OneTimeSecretRow,
)
from deskhand.vncbridge.auth.one_time import OneTimeSecret, SecretKind
from deskhand.vncbridge.auth.policy import Principal

from .database_clock import DatabaseClock
from .rows import CredentialRows

log = logging.getLogger(__name__)

FOLLOW_SECONDS = 1.0
OVERLAP_SECONDS = 10.0
"""How much earlier than the last time is read: a transaction may be committed after later ones."""
KEPT_SECONDS = 86_400.0
"""Age from which rows of ends are removed."""


class SharedCredentialRows(CredentialRows):
    """Sessions and issued tokens as rows that other control planes have, too."""

    shared = True

    async def announce(self, name: str) -> None:
        """Report to the other control planes that a credential has ended or changed."""

        async def write(session: AsyncSession) -> None:
            old = CredentialEndRow.at < DatabaseTime() - KEPT_SECONDS
            await session.execute(delete(CredentialEndRow).where(old))
            await session.execute(insert(CredentialEndRow).values(name=name, at=DatabaseTime()))

        await self._store.write(write)


class OneTimeSecretRows:
    """Tickets and codes as rows, which end by the clock of the database."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def add(self, secret_digest: str, secret: OneTimeSecret) -> None:
        """Keep a secret until it is taken or ends."""

        async def write(session: AsyncSession) -> None:
            over = OneTimeSecretRow.ends_at <= DatabaseTime()
            await session.execute(delete(OneTimeSecretRow).where(over))
            session.add(
                OneTimeSecretRow(
                    digest=secret_digest,
                    kind=secret.kind,
                    ends_at=secret.ends,
                    principal=asdict(secret.principal),
                    via="".join(f" {name} " for name in secret.principal.via),
                )
            )

        await self._store.write(write)

    async def take(self, kind: SecretKind, secret_digest: str) -> OneTimeSecret | None:
        """Remove a secret and return it; None if it is unknown, used or over."""
        # One statement: of several at once, one gets the row.
        taken = (
            delete(OneTimeSecretRow)
            .where(
                OneTimeSecretRow.digest == secret_digest,
                OneTimeSecretRow.kind == kind,
                OneTimeSecretRow.ends_at > DatabaseTime(),
            )
            .returning(OneTimeSecretRow.ends_at, OneTimeSecretRow.principal)
        )

        async def write(session: AsyncSession) -> OneTimeSecret | None:
            row = (await session.execute(taken)).one_or_none()
            if row is None:
                return None
            lists = {name: tuple(row.principal[name]) for name in ("scopes", "via")}
            return OneTimeSecret(kind, row.ends_at, Principal(**{**row.principal, **lists}))

        return await self._store.write(write)

    async def end(self, name: str) -> None:
        """Remove the tickets whose credential was derived from ``name``."""
        gone = OneTimeSecretRow.via.contains(f" {name} ", autoescape=True)
        await self._store.write(lambda s: s.execute(delete(OneTimeSecretRow).where(gone)))


async def follow(
    store: Store,
    changed: Callable[[str], Awaitable[None]],
    clock: DatabaseClock,
    seconds: float = FOLLOW_SECONDS,
) -> None:
    """Call ``changed`` with what control planes announce, and set ``clock``; never return.

    The first call is for what was announced just before, as it may be newer than what was loaded.
    After a fault of the database some is announced once more.
    """
    since, seen = None, dict[int, str]()
    while True:
        try:
            newest, found = await _read(store, since, clock)
            for row_id, name in found.items():
                if row_id not in seen:
                    await changed(name)
            since, seen = newest, found
        except StoreError as error:
            log.warning("what other control planes have changed is read later: %s", error)
        await asyncio.sleep(seconds)


async def _read(
    store: Store, since: float | None, clock: DatabaseClock
) -> tuple[float, dict[int, str]]:
    """Return the time of the database, and the ends since an earlier one."""

    async def read(session: AsyncSession) -> tuple[float, dict[int, str]]:
        now = await database_time(session)
        # Before the next statement, which takes time.
        clock.set(now)
        first = (now if since is None else since) - OVERLAP_SECONDS
        query = select(CredentialEndRow).where(CredentialEndRow.at >= first)
        rows = await session.scalars(query.order_by(CredentialEndRow.id))
        return now, {row.id: row.name for row in rows}

    return await store.read(read)
