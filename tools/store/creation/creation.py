"""Brings the schema of a database to the newest revision.

An empty database is created by the statements in `newest.sql`, in one transaction; one that exists
is migrated by Alembic, revision after revision. Both end with the same schema: the statements are
those that SQLite has recorded after all revisions, `python -m scripts.write_schema` writes them,
and a test compares them. So the start of a new installation does not repeat the history of the
schema, which takes ten times as long and grows with each revision.
"""

import re
from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from .statements import statements_of

MIGRATIONS = Path(__file__).parent.parent / "migrations"
NEWEST = Path(__file__).with_name("newest.sql")
_REVISION = re.compile(r"INSERT INTO alembic_version VALUES \('(\w+)'\)")


def migrate(connection: Connection) -> None:
    """Bring the schema of a database to the newest revision; the caller commits.

    Raises:
        CommandError: If the database is of a newer version.
        SQLAlchemyError: If it cannot be read or written.
    """
    if _is_empty(connection):
        # Another process may create it at the same time; the lock decides which of them does.
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        if _is_empty(connection):
            for statement in _newest():
                connection.exec_driver_sql(statement)
            return
    # Alembic would load all revisions to find that it has nothing to apply.
    if not _is_newest(connection):
        upgrade(connection)


def upgrade(connection: Connection) -> None:
    """Apply all revisions that a database lacks, in order."""
    command.upgrade(revisions_for(connection), "head")


def revisions_for(connection: Connection) -> Config:
    """The configuration by which Alembic applies our revisions over a connection."""
    config = _config()
    config.attributes["connection"] = connection
    return config


def _config() -> Config:
    config = Config()
    # A percent sign would begin an interpolation of ConfigParser.
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    # The revisions lie in subfolders of "versions".
    config.set_main_option("recursive_version_locations", "true")
    return config


def known_revisions() -> set[str]:
    """Return all revisions."""
    scripts = ScriptDirectory.from_config(_config())
    return {script.revision for script in scripts.walk_revisions()}


@cache
def newest_revision() -> str:
    """Return the revision of a new database."""
    found = _REVISION.search(NEWEST.read_text(encoding="utf-8"))
    return found[1] if found else ""


def _is_newest(connection: Connection) -> bool:
    table = "SELECT count(*) FROM sqlite_master WHERE name = 'alembic_version'"
    if connection.exec_driver_sql(table).scalar() == 0:
        return False
    found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalars().all()
    return found == [newest_revision()]


def _is_empty(connection: Connection) -> bool:
    found = connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar()
    return found == 0


@cache
def _newest() -> tuple[str, ...]:
    return statements_of(NEWEST.read_text(encoding="utf-8"))
