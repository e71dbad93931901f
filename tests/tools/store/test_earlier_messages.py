"""Messages after a database of an earlier version was restored."""

import asyncio
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store import messages
from deskhand.tools.store.creation.creation import revisions_for
from deskhand.tools.store.database import Store
from tests.tools.store.fakes import chat_row

pytestmark = pytest.mark.sqlite

QUEUED = """
INSERT INTO messages (chat_id, position, role, content, created_at)
VALUES ('a', NULL, 'user', '[]', 1.0)
"""


def test_a_message_that_waits_survives_and_waits_for_its_turn(tmp_path: Path) -> None:
    def downgrade(connection: Connection) -> None:
        command.downgrade(revisions_for(connection), "0054")

    async def write(session: AsyncSession) -> None:
        session.add(chat_row("a"))
        await session.flush()
        await (await session.connection()).run_sync(downgrade)
        await session.execute(text(QUEUED))

    async def scenario() -> None:
        async with await Store.open(tmp_path / "deskhand.db") as store:
            await store.write(write)
        async with await Store.open(tmp_path / "deskhand.db") as store:
            assert await store.read(lambda session: messages.queue_length(session, "a")) == 1
            assert not await store.read_short(lambda s: messages.any_after_step(s, "a"))
            found = await store.read(lambda s: s.scalars(text("SELECT id FROM run_activities")))
            assert list(found) == []

    asyncio.run(scenario())
