"""Migrations of database files: complete, or without any effect."""

import logging
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import Connection, create_engine

from deskhand.tools.store.creation.creation import migrate, newest_revision, revisions_for
from deskhand.tools.store.creation.migration import migrate_file, revision_of
from deskhand.tools.store.errors import DatabaseTooNew, StoreUnavailable

EARLIER = "0061"


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """Create a database of an earlier revision with a row, in WAL mode."""
    path = tmp_path / "deskhand.db"
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        migrate(connection)
    with engine.begin() as connection:
        command.downgrade(revisions_for(connection), EARLIER)
    engine.dispose()
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE kept (name)")
        database.execute("INSERT INTO kept VALUES ('one')")
        database.commit()
    return path


def kept(path: Path) -> list[tuple[str]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT name FROM kept").fetchall()


def test_a_migration_is_announced_and_keeps_the_database_before(
    earlier: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    earlier.with_name("deskhand.db.before-0001").touch()
    migrate_file(earlier)
    assert revision_of(earlier) == newest_revision()
    assert kept(earlier) == [("one",)]
    before = earlier.with_name(f"deskhand.db.before-{EARLIER}")
    assert (revision_of(before), kept(before)) == (EARLIER, [("one",)])
    assert [path.name for path in earlier.parent.glob("*.before-*")] == [before.name]
    assert not earlier.with_name("deskhand.db.migrating").exists()
    assert f"from revision {EARLIER} to {newest_revision()}" in caplog.text
    caplog.clear()
    migrate_file(earlier)
    assert not caplog.text


def test_a_migration_that_fails_changes_nothing(earlier: Path) -> None:
    def fail(connection: Connection) -> None:
        connection.exec_driver_sql("DROP TABLE kept")
        raise ValueError("a revision\nfails")

    with pytest.raises(StoreUnavailable, match="nothing was changed: a revision fails"):
        migrate_file(earlier, fail)
    assert (revision_of(earlier), kept(earlier)) == (EARLIER, [("one",)])
    assert not earlier.with_name("deskhand.db.migrating").exists()
    migrate_file(earlier)
    assert kept(earlier) == [("one",)]


def test_a_database_of_a_newer_version_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "deskhand.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE alembic_version (version_num)")
        database.execute("INSERT INTO alembic_version VALUES ('9999')")
        database.commit()
    with pytest.raises(DatabaseTooNew) as caught:
        migrate_file(path)
    line = str(caught.value)
    assert "\n" not in line
    assert f"9999, and this version knows {newest_revision()};" in line
    assert revision_of(path) == "9999"


def test_a_file_without_a_schema_is_left_to_its_creation(tmp_path: Path) -> None:
    path = tmp_path / "deskhand.db"
    migrate_file(path)
    path.touch()
    migrate_file(path)
    assert path.read_bytes() == b""
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE other (name)")
    assert revision_of(path) == ""


@pytest.mark.soak  # It waits for the reader as long as SQLite does.
def test_a_database_that_is_read_by_another_process_is_migrated_later(earlier: Path) -> None:
    with closing(sqlite3.connect(earlier)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM kept").fetchall()
        with closing(sqlite3.connect(earlier)) as writer:
            writer.execute("INSERT INTO kept VALUES ('two')")
            writer.commit()
        with pytest.raises(StoreUnavailable, match="another process reads"):
            migrate_file(earlier)
    migrate_file(earlier)
    assert kept(earlier) == [("one",), ("two",)]
