"""A copy of a database in use, by SQLite's backup API (https://www.sqlite.org/backup.html)."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

_BUSY_SECONDS = 30.0


def copy_database(source: Path, target: Path) -> None:
    """Write the present state of a database to a new file, which needs no WAL beside it.

    Writers go on meanwhile: in WAL mode the copy sees one snapshot.

    Raises:
        sqlite3.Error: If the database cannot be read, or the copy cannot be written.
        OSError: If the file exists already, or cannot be made.
    """
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with (
        closing(sqlite3.connect(source, timeout=_BUSY_SECONDS)) as read,
        closing(sqlite3.connect(target)) as written,
    ):
        read.backup(written)
        # The copy inherits the WAL mode, in which opening it would create files beside it.
        written.execute("PRAGMA journal_mode=DELETE")
