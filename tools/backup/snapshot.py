"""What a copy of the database names."""

import sqlite3
from contextlib import closing
from pathlib import Path


def stored_ids(database: Path) -> set[str]:
    """Return the ids of the stored files that a database names."""
    with closing(sqlite3.connect(database)) as opened:
        return {row[0] for row in opened.execute("SELECT id FROM files")}
