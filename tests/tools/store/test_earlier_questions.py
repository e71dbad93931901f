"""Questions after a database of an earlier version was restored."""

import asyncio
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store import chats
from deskhand.tools.store.creation.creation import revisions_for
from deskhand.tools.store.database import Store
from tests.tools.store.fakes import chat_row

pytestmark = pytest.mark.sqlite

ASKED = """
INSERT INTO mcp_approvals (owner, digest, chat_id, name, question, state, asked_at, changed_at)
VALUES ('owner', :digest, 'a', 'n', 'q', :state, 1.0, 1.0)
"""


def test_a_chat_that_asked_and_approvals_of_servers_survive(tmp_path: Path) -> None:
    def downgrade(connection: Connection) -> None:
        command.downgrade(revisions_for(connection), "0036")

    async def write(session: AsyncSession) -> None:
        row = chat_row("a")
        row.state = "requires_action"
        session.add(row)
        await session.flush()
        await (await session.connection()).run_sync(downgrade)
        for digest, state in (("d1", "asked"), ("d2", "approved")):
            await session.execute(text(ASKED), {"digest": digest, "state": state})

    async def scenario() -> None:
        async with await Store.open(tmp_path / "deskhand.db") as store:
            await store.write(write)
        async with await Store.open(tmp_path / "deskhand.db") as store:
            view = await store.read(lambda session: chats.view(session, "a"))
            assert (view.state, view.requires_action) == ("requires_action", None)
            assert (view.approval, view.domains, view.look_only) == (None, (), False)
            assert (view.effort, view.status_message) == (None, None)
            query = text("SELECT state FROM mcp_approvals ORDER BY digest")
            found = await store.read(lambda session: session.scalars(query))
            assert list(found) == ["withdrawn", "approved"]

    asyncio.run(scenario())
