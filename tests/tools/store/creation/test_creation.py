"""New databases and migrated ones have the same schema."""

import sqlite3
from pathlib import Path

from sqlalchemy import create_engine

from deskhand.tools.store.creation.creation import NEWEST, migrate, newest_revision, upgrade
from deskhand.tools.store.creation.server_creation import NEWEST_ON_SERVERS
from scripts.write_schema import schema, server_schema


def opened(path: Path, *, from_the_first: bool) -> list[tuple[str, ...]]:
    """Create a database in one of both ways; return its schema and its revision."""
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        (upgrade if from_the_first else migrate)(connection)
    engine.dispose()
    database = sqlite3.connect(path)
    rows = database.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name")
    found = [*rows, *database.execute("SELECT version_num FROM alembic_version")]
    database.close()
    return found


def test_a_new_database_is_as_after_all_revisions(tmp_path: Path) -> None:
    new = opened(tmp_path / "new.db", from_the_first=False)
    assert new == opened(tmp_path / "migrated.db", from_the_first=True)


def test_the_statements_are_those_of_the_newest_revision() -> None:
    written = NEWEST.read_text(encoding="utf-8")
    assert written == schema(), "run python -m scripts.write_schema"


def test_the_statements_for_servers_are_those_of_the_tables() -> None:
    written = NEWEST_ON_SERVERS.read_text(encoding="utf-8")
    assert written == server_schema(), "run python -m scripts.write_schema"


def test_a_database_that_exists_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "same.db"
    first = opened(path, from_the_first=False)
    assert opened(path, from_the_first=False) == first


def test_a_creation_that_is_not_committed_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "cut.db"
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        migrate(connection)
        connection.rollback()
    engine.dispose()
    database = sqlite3.connect(path)
    assert database.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    database.close()
    assert opened(path, from_the_first=False)[-1] != ()


def test_of_two_that_create_at_once_one_creates(tmp_path: Path) -> None:
    path = tmp_path / "both.db"
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": 0})
    with engine.connect() as one:
        migrate(one)
        one.commit()
        with engine.begin() as other:
            migrate(other)
    engine.dispose()
    assert opened(path, from_the_first=False) == opened(tmp_path / "new.db", from_the_first=False)


def test_a_database_without_a_revision_gets_all_of_them(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'other.db'}")
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE other (id INTEGER)")
        migrate(connection)
        found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    engine.dispose()
    assert found == newest_revision()
