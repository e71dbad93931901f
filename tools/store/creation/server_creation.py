"""Brings the schema of a database on a server to the newest revision.

An empty one is created by the statements in `newest.postgresql.sql`; one that exists is migrated by
Alembic, by the same revisions as SQLite's. No server has a schema from before 0065, so that earlier
revisions may be written for SQLite alone. The transaction holds a lock that all control planes
take, so that two may start at once.
"""

from functools import cache
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from deskhand.tools.store.errors import DatabaseTooNew

from .creation import known_revisions, newest_revision, upgrade
from .statements import statements_of

NEWEST_ON_SERVERS = Path(__file__).with_name("newest.postgresql.sql")
LOCK = 0x6465736B
"""Key of the advisory lock: the letters "desk"."""


def migrate_server(connection: Connection) -> None:
    """Create or migrate the schema; the caller commits.

    Raises:
        DatabaseTooNew: If it is of a newer version.
        SQLAlchemyError: If the database cannot be read or written.
    """
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
    if not inspect(connection).has_table("alembic_version"):
        for statement in _newest():
            connection.exec_driver_sql(statement)
        return
    found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    if found not in known_revisions():
        place = connection.engine.url.render_as_string(hide_password=True)
        raise DatabaseTooNew(place, str(found), newest_revision())
    if found != newest_revision():
        upgrade(connection)


@cache
def _newest() -> tuple[str, ...]:
    return statements_of(NEWEST_ON_SERVERS.read_text(encoding="utf-8"))
