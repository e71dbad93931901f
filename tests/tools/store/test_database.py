import asyncio
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.people import tables
from deskhand.tools.store import chats, ownership, turns
from deskhand.tools.store.creation.creation import revisions_for
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreUnavailable
from deskhand.tools.store.tables import desktops, held_pictures, questions, shared
from deskhand.tools.store.tables.base import Base
from tests.tools.store.fakes import chat_row, database


def test_the_migrated_schema_is_the_one_the_models_describe(tmp_path: Path) -> None:
    # Their imports declare tables that are not in the module of the schema.
    others = (
        *(desktops.DesktopRow, held_pictures.HeldPictureRow, questions.QuestionRow),
        *(ownership.RunShareRow, shared.PlaneRow, tables.PersonRow),
    )
    for row in others:
        assert row.metadata is Base.metadata

    def differences(connection: Connection) -> list[object]:
        return list(compare_metadata(MigrationContext.configure(connection), Base.metadata))

    async def scenario() -> list[object]:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:

            async def compare(session: AsyncSession) -> list[object]:
                return await (await session.connection()).run_sync(differences)

            return await store.read(compare)

    assert asyncio.run(scenario()) == []


@pytest.mark.sqlite
def test_the_deletion_of_a_stored_file_reads_the_steps_by_an_index(tmp_path: Path) -> None:
    query = "EXPLAIN QUERY PLAN SELECT 1 FROM steps WHERE screenshot_file_id = 'f'"

    async def scenario() -> str:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:

            async def plan(session: AsyncSession) -> str:
                return str((await session.execute(text(query))).one()[-1])

            return await store.read(plan)

    assert "USING COVERING INDEX ix_steps_screenshot_file_id" in asyncio.run(scenario())


@pytest.mark.sqlite
def test_recordings_of_a_database_of_the_first_version_are_listed(tmp_path: Path) -> None:
    async def record(session: AsyncSession) -> None:
        await _add(session, "a")
        (await turns.begin(session, await chats.get(session, "a"), 1.0)).recording = {
            "file_ids": ["f"]
        }

    async def downgrade(session: AsyncSession) -> None:
        def run(connection: Connection) -> None:
            command.downgrade(revisions_for(connection), "0001")

        await (await session.connection()).run_sync(run)

    async def scenario() -> list[str]:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            await store.write(record)
            await store.write(downgrade)
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            page = await store.read_short(lambda s: chats.recorded(s, 9, None))
            return [chat.id for chat in page.chats]

    assert asyncio.run(scenario()) == ["a"]


@pytest.mark.sqlite
def test_the_cost_of_turns_of_an_earlier_version_is_not_known(tmp_path: Path) -> None:
    async def used(session: AsyncSession) -> None:
        await _add(session, "a")
        turn = await turns.begin(session, await chats.get(session, "a"), 1.0)
        turn.input_tokens, turn.cost_usd = 5, 0.5

    async def downgrade(session: AsyncSession) -> None:
        def run(connection: Connection) -> None:
            command.downgrade(revisions_for(connection), "0047")

        await (await session.connection()).run_sync(run)

    async def scenario() -> list[float | None]:
        costs = []
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            await store.write(used)
            costs.append((await store.read(lambda s: chats.view(s, "a"))).usage.cost_usd)
            await store.write(downgrade)
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            view = await store.read(lambda s: chats.view(s, "a"))
            assert view.usage.input_tokens == 5
            return [*costs, view.usage.cost_usd]

    assert asyncio.run(scenario()) == [0.5, None]


def test_opening_again_finds_what_was_written(tmp_path: Path) -> None:
    async def scenario() -> str:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            await store.write(lambda session: _add(session, "a"))
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            return (await store.read(lambda session: chats.get(session, "a"))).title

    assert asyncio.run(scenario()) == "Chat a"


@pytest.mark.sqlite
def test_every_connection_checks_foreign_keys_and_writes_ahead(tmp_path: Path) -> None:
    async def scenario() -> list[object]:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:

            async def pragmas(session: AsyncSession) -> list[object]:
                names = ("foreign_keys", "journal_mode", "synchronous", "busy_timeout")
                return [await session.scalar(text(f"PRAGMA {name}")) for name in names]

            return await store.read(pragmas)

    assert asyncio.run(scenario()) == [1, "wal", 1, 5000]


def test_a_failed_transaction_leaves_nothing(tmp_path: Path) -> None:
    async def add_and_fail(session: AsyncSession) -> None:
        await _add(session, "a")
        raise RuntimeError("no")

    async def scenario() -> int:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            with pytest.raises(RuntimeError):
                await store.write(add_and_fail)
            return len(await store.read(lambda s: chats.in_states(s, ["waiting"])))

    assert asyncio.run(scenario()) == 0


def test_a_cancelled_caller_does_not_cut_a_transaction_in_half(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            begun = asyncio.Event()

            async def work(session: AsyncSession) -> None:
                await _add(session, "a")
                begun.set()
                await asyncio.sleep(0)
                await _add(session, "b")

            task = asyncio.create_task(store.write(work))
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return [c.id for c in await store.read(lambda s: chats.in_states(s, ["waiting"]))]

    assert asyncio.run(scenario()) == ["a", "b"]


def test_a_caller_that_is_cancelled_again_and_again_waits_for_its_transaction(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            begun, released = asyncio.Event(), asyncio.Event()

            async def work(session: AsyncSession) -> None:
                await _add(session, "a")
                begun.set()
                await released.wait()

            task = asyncio.create_task(store.write(work))
            await begun.wait()
            for _ in range(3):
                task.cancel()
                # The task takes up a cancellation in its next round of the loop.
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                assert not task.done()
            released.set()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await store.read(lambda s: chats.get(s, "a"))).title == "Chat a"

    asyncio.run(scenario())


def test_many_writers_at_once_all_get_their_turn(tmp_path: Path) -> None:
    async def scenario() -> int:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:

            async def read_then_write(name: str) -> None:
                async def work(session: AsyncSession) -> None:
                    await chats.in_states(session, ["waiting"])
                    await _add(session, name)

                await store.write(work)

            await asyncio.gather(*(read_then_write(str(n)) for n in range(20)))
            return len(await store.read(lambda s: chats.in_states(s, ["waiting"])))

    assert asyncio.run(scenario()) == 20


@pytest.mark.sqlite
def test_a_full_disk_is_reported_as_such(tmp_path: Path) -> None:
    async def fill(session: AsyncSession) -> None:
        await session.execute(text("PRAGMA max_page_count=1"))
        for number in range(1000):
            await _add(session, f"{number}")

    async def scenario() -> str:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            with pytest.raises(StoreUnavailable) as caught:
                await store.write(fill)
            assert await store.read(lambda s: chats.in_states(s, ["waiting"])) == []
        return str(caught.value)

    assert "is full" in asyncio.run(scenario())


@pytest.mark.sqlite
def test_a_path_that_cannot_hold_a_database_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    async def scenario() -> str:
        with pytest.raises(StoreUnavailable) as caught:
            await Store.open(tmp_path / "file" / "deskhand.db")
        return str(caught.value)

    message = asyncio.run(scenario())
    assert "cannot be used" in message
    assert "--data-dir" in message
    assert "\n" not in message


@pytest.mark.sqlite
def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "deskhand.db").write_text("This is a letter, not a database." * 100)

    async def scenario() -> None:
        with pytest.raises(StoreUnavailable, match="not a database"):
            await Store.open(tmp_path / "deskhand.db")

    asyncio.run(scenario())


def test_a_database_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:

            async def pretend(session: AsyncSession) -> None:
                await session.execute(text("UPDATE alembic_version SET version_num = '9999'"))

            await store.write(pretend)
        with pytest.raises(StoreUnavailable, match="9999"):
            await Store.open(database(tmp_path / "deskhand.db"))

    asyncio.run(scenario())


async def _add(session: AsyncSession, name: str) -> None:
    session.add(chat_row(name))
    await session.flush()
