"""Writes that are committed together, on a real database."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from deskhand.tools.agents.chat_repository.joined_writes import JoinedWrites
from deskhand.tools.store.database import FaultTiming, Store
from deskhand.tools.store.errors import StoreUnavailable, UnknownRow
from tests.system.services import PATIENCE
from tests.tools.store.fakes import database

NEVER = 1000.0
SHORT = FaultTiming(busy=0.01, first_delay=0.01, longest_delay=0.02, longest_check=0.01)


def note(name: str) -> Callable[[Connection], str]:
    """Insert a row with a name, and return the name."""

    def work(connection: Connection) -> str:
        connection.execute(text("INSERT INTO notes VALUES (:name)"), {"name": name})
        return name

    return work


def fail(_: Connection) -> str:
    raise UnknownRow("chat", "c")


def run(folder: Path, scenario: Callable[[Store], Awaitable[None]]) -> list[str]:
    """Play a scenario on a database, and return the notes that it left."""
    place = database(folder / "deskhand.db")

    async def play() -> list[str]:
        async with asyncio.timeout(PATIENCE):
            async with await Store.open(place, SHORT) as store:
                await store.write(lambda s: s.execute(text("CREATE TABLE notes (name text)")))
                await scenario(store)
            async with await Store.open(place) as store:
                found = await store.read(lambda s: s.scalars(text("SELECT name FROM notes")))
                return list(found)

    return asyncio.run(play())


def test_what_is_added_is_committed_with_the_next_write(tmp_path: Path) -> None:
    async def scenario(store: Store) -> None:
        done: list[str] = []
        async with JoinedWrites(store, NEVER) as writes:
            before = store.commits
            writes.add(note("a"), done.append)
            writes.add(note("b"), done.append)
            assert await writes.write(note("c"), done.append) == "c"
            assert store.commits == before + 1
            assert done == ["a", "b", "c"]
            await writes.write(note("d"))
        assert store.commits == before + 2

    assert run(tmp_path, scenario) == ["a", "b", "c", "d"]


def test_what_waits_is_committed_by_itself(tmp_path: Path) -> None:
    async def scenario(store: Store) -> None:
        committed = asyncio.Event()
        async with JoinedWrites(store, 0.01) as writes:
            for name in ("a", "b"):
                writes.add(note(name), lambda _: committed.set())
                await committed.wait()
                committed.clear()

    assert run(tmp_path, scenario) == ["a", "b"]


def test_the_end_of_a_turn_commits_what_waits(tmp_path: Path) -> None:
    async def scenario(store: Store) -> None:
        async with JoinedWrites(store, NEVER) as writes:
            await writes.flush()
            writes.add(note("a"))

    assert run(tmp_path, scenario) == ["a"]


def test_a_cancelled_write_is_committed_and_published(tmp_path: Path) -> None:
    async def scenario(store: Store) -> None:
        done: list[str] = []
        async with JoinedWrites(store, NEVER) as writes:
            writes.add(note("a"), done.append)
            writing = asyncio.create_task(writes.write(note("b"), done.append))
            await asyncio.sleep(0)
            writing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await writing
            assert done == ["a", "b"]

    assert run(tmp_path, scenario) == ["a", "b"]


@pytest.mark.sqlite
def test_what_waits_outlasts_a_fault_of_the_database(tmp_path: Path) -> None:
    async def scenario(store: Store) -> None:
        async with JoinedWrites(store, NEVER) as writes:
            with closing(sqlite3.connect(tmp_path / "deskhand.db", isolation_level=None)) as other:
                other.execute("BEGIN EXCLUSIVE")
                writes.add(note("a"))
                with pytest.raises(StoreUnavailable):
                    await writes.write(note("b"))
            await writes.write(note("c"))

    assert run(tmp_path, scenario) == ["a", "c"]


@pytest.mark.sqlite
def test_a_fault_when_nothing_else_is_written_loses_nothing(tmp_path: Path) -> None:
    async def scenario(store: Store) -> None:
        async with JoinedWrites(store, 0.001) as writes:
            with closing(sqlite3.connect(tmp_path / "deskhand.db", isolation_level=None)) as other:
                other.execute("BEGIN EXCLUSIVE")
                writes.add(note("a"))
                await store.health.faulty.wait()

    assert run(tmp_path, scenario) == ["a"]


def test_what_needs_a_deleted_row_is_undone(tmp_path: Path) -> None:
    undone: list[str] = []

    async def undo() -> None:
        undone.append("undone")

    async def scenario(store: Store) -> None:
        async with JoinedWrites(store, NEVER) as writes:
            writes.add(note("a"), undo=undo)
            with pytest.raises(UnknownRow):
                await writes.write(fail)
            await writes.write(note("b"))
            writes.add(fail, undo=undo)

    assert run(tmp_path, scenario) == ["b"]
    assert undone == ["undone", "undone"]


@pytest.mark.sqlite
def test_what_cannot_be_written_at_the_end_is_undone(tmp_path: Path) -> None:
    undone = asyncio.Event()

    async def undo() -> None:
        undone.set()

    async def scenario(store: Store) -> None:
        with closing(sqlite3.connect(tmp_path / "deskhand.db", isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            async with JoinedWrites(store, NEVER) as writes:
                writes.add(note("a"), undo=undo)

    assert run(tmp_path, scenario) == []
    assert undone.is_set()
