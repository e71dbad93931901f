"""Writes the schema that all revisions of the database lead to: ``python -m scripts.write_schema``.

`tools/store/creation` creates new databases by it.
"""

import sqlite3
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import create_engine

from deskhand.tools.store.creation.creation import NEWEST, upgrade

_REVISION = """
SELECT 'INSERT INTO alembic_version VALUES (' || quote(version_num) || ')' FROM alembic_version
"""


def schema() -> str:
    """Return the statements of a database to which all revisions were applied."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "migrated.db"
        engine = create_engine(f"sqlite:///{path}")
        with engine.begin() as connection:
            upgrade(connection)
        engine.dispose()
        database = sqlite3.connect(path)
        try:
            rows = database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
            statements = [str(sql) for (sql,) in rows]
            statements += [str(sql) for (sql,) in database.execute(_REVISION)]
        finally:
            database.close()
    return "".join(f"{statement};\n" for statement in statements)


def main() -> None:
    """Write the file."""
    NEWEST.write_text(schema(), encoding="utf-8")
    sys.stdout.write(f"{NEWEST}: {len(schema().splitlines())} lines\n")


if __name__ == "__main__":
    main()
