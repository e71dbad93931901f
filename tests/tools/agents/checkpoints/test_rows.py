import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.checkpoints import rows
from deskhand.tools.agents.checkpoints.checkpoint import Checkpoint
from deskhand.tools.conversation.conversation import Message, Text
from deskhand.tools.store import messages, steps
from deskhand.tools.store.creation.creation import revisions_for
from deskhand.tools.store.database import Store
from tests.tools.store.fakes import chat_row, database

SUMMARY = (Message("user", (Text("All."),)),)
BEFORE = "0046"
"""Revision before the one that adds checkpoints."""


async def chat(session: AsyncSession) -> None:
    session.add(chat_row("a"))
    await session.flush()
    await messages.append(session, "a", Message("user", (Text("Go."),)), 1.0)


async def begin(reason: str, session: AsyncSession) -> str:
    return (await rows.begin(session, "a", reason, 2.0)).id


async def end(step_id: str, made: Checkpoint | None, session: AsyncSession) -> None:
    await rows.end(session, step_id, steps.StepEnd("done", {}, 3.0), made)


def on_store(tmp_path: Path, work: Callable[[Store], Awaitable[Any]]) -> Any:
    async def scenario() -> Any:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            return await work(store)

    return asyncio.run(scenario())


def test_the_newest_checkpoint_is_stored_with_the_end_of_its_step(tmp_path: Path) -> None:
    async def work(store: Store) -> None:
        await store.write(chat)
        assert await store.read(lambda s: rows.newest(s, "a")) is None
        for number in (1, 2):
            step = await store.write(partial(begin, f"{number} pictures"))
            made = Checkpoint(SUMMARY, number, 9)
            await store.write(partial(end, step, made))
            assert await store.read(lambda s: rows.newest(s, "a")) == made
        failed = await store.write(partial(begin, "x"))
        await store.write(partial(end, failed, None))
        assert await store.read(lambda s: rows.newest(s, "a")) == made
        shown = await store.read(lambda s: steps.views(s, "a"))
        assert [(step.tool, step.title) for step in shown] == [
            ("checkpoint", "Checkpoint at 1 pictures"),
            ("checkpoint", "Checkpoint at 2 pictures"),
            ("checkpoint", "Checkpoint at x"),
        ]

    on_store(tmp_path, work)


@pytest.mark.sqlite
def test_a_chat_of_an_older_database_has_its_messages_and_no_checkpoint(tmp_path: Path) -> None:
    def downgrade(connection: Connection) -> None:
        command.downgrade(revisions_for(connection), BEFORE)

    async def older(store: Store) -> None:
        await store.write(chat)

        async def run(session: AsyncSession) -> None:
            await (await session.connection()).run_sync(downgrade)

        await store.write(run)

    async def reads(store: Store) -> None:
        assert len(await store.read(lambda s: messages.history(s, "a"))) == 1
        assert await store.read(lambda s: rows.newest(s, "a")) is None

    on_store(tmp_path, older)
    on_store(tmp_path, reads)
