"""Migration of a database file to the newest revision, without a moment at which it is half done.

The revisions are applied to a copy of the database. Only when all of them have succeeded, and the
copy is on the disk, it takes the place of the database by rename(2). So a revision that fails, a
full disk or SIGKILL leaves the database as it was, and the next start begins again. The database
before the migration is kept as ``NAME.before-REVISION``, for a return to the version before; only
the newest one is kept. The caller must be the only process that writes to the database.
"""

import logging
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, event

from deskhand.tools.store.errors import DatabaseTooNew, StoreUnavailable

from .creation import known_revisions, newest_revision, upgrade
from .snapshot import copy_database

log = logging.getLogger(__name__)


def migrate_file(path: Path, apply: Callable[[Connection], None] = upgrade) -> None:
    """Migrate a database that has an older schema; leave one that is empty or missing.

    Raises:
        DatabaseTooNew: If it is of a newer version.
        StoreUnavailable: If a revision fails; the database is as it was before.
        SQLAlchemyError: If it cannot be read or written, also ``sqlite3.Error`` and ``OSError``.
    """
    found, newest = revision_of(path), newest_revision()
    if found in ("", newest):
        return
    if found not in known_revisions():
        raise DatabaseTooNew(path, found, newest)
    kept = path.with_name(f"{path.name}.before-{found}")
    log.warning("migrating %s from revision %s to %s; %s is a copy", path, found, newest, kept)
    working = path.with_name(f"{path.name}.migrating")
    _remove(working)
    try:
        copy_database(path, working)
        _apply(working, apply)
        _settle(path)
        _keep(path, kept)
        working.replace(path)
        _sync(path.parent)
    except Exception as error:
        reason = f"the migration to revision {newest} failed, and nothing was changed: {error}"
        raise StoreUnavailable(path, " ".join(reason.split())) from error
    finally:
        _remove(working)
    log.warning("migrated %s to revision %s", path, newest)


def revision_of(path: Path) -> str:
    """Return the revision of a database; empty if it has no schema or does not exist."""
    if not path.exists() or path.stat().st_size == 0:
        return ""
    with closing(sqlite3.connect(path)) as database:
        tables = "SELECT count(*) FROM sqlite_master WHERE name = 'alembic_version'"
        if database.execute(tables).fetchone() == (0,):
            return ""
        row = database.execute("SELECT version_num FROM alembic_version").fetchone()
        return "" if row is None else str(row[0])


def _apply(path: Path, apply: Callable[[Connection], None]) -> None:
    engine = create_engine(f"sqlite:///{path}")
    event.listen(engine, "connect", _enable_foreign_keys)
    try:
        with engine.begin() as connection:
            apply(connection)
    finally:
        engine.dispose()
    _sync(path)


def _settle(path: Path) -> None:
    """Move the content of the WAL into the database: a WAL must not meet another database."""
    with closing(sqlite3.connect(path)) as database:
        busy, *_ = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise sqlite3.OperationalError("another process reads the database")


def _keep(path: Path, kept: Path) -> None:
    for earlier in path.parent.glob(f"{path.name}.before-*"):
        _remove(earlier)
    # A hard link: the database has both names until the migrated one takes the first.
    os.link(path, kept)


def _remove(path: Path) -> None:
    for suffix in ("", "-journal", "-wal", "-shm"):
        path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _enable_foreign_keys(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA foreign_keys=ON")
