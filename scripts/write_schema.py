"""Writes the schema that all revisions of the database lead to: ``python -m scripts.write_schema``.

`tools/store/creation` creates new databases by it: one file for SQLite, as it has recorded the
schema after all revisions, and one for PostgreSQL, from the tables that the program declares.
"""

import sqlite3
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import create_engine
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from deskhand.tools.people import tables as tables
from deskhand.tools.store import ownership as ownership
from deskhand.tools.store.creation.creation import NEWEST, newest_revision, upgrade
from deskhand.tools.store.creation.server_creation import NEWEST_ON_SERVERS
from deskhand.tools.store.tables import desktops as desktops
from deskhand.tools.store.tables import held_pictures as held_pictures
from deskhand.tools.store.tables import questions as questions
from deskhand.tools.store.tables import shared as shared
from deskhand.tools.store.tables.base import Base

_REVISION = """
SELECT 'INSERT INTO alembic_version VALUES (' || quote(version_num) || ')' FROM alembic_version
"""
AUDIT_RULES = (
    """
CREATE FUNCTION refuse_change_of_audit() RETURNS trigger LANGUAGE plpgsql AS '
BEGIN
    IF TG_OP = ''UPDATE'' THEN
        RAISE integrity_constraint_violation USING MESSAGE = ''the audit log is append-only'';
    ELSIF OLD.at > extract(epoch FROM now()) - 400 * 86400 THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = ''the audit log is kept for 400 days'';
    END IF;
    RETURN OLD;
END'
""",
    """
CREATE OR REPLACE TRIGGER audit_is_kept BEFORE UPDATE OR DELETE ON audit
FOR EACH ROW EXECUTE FUNCTION refuse_change_of_audit()
""",
)
"""What the triggers of SQLite's schema do: records of the audit log are not changed."""


def schema() -> str:
    """Return the statements of a database of SQLite to which all revisions were applied."""
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


def server_schema() -> str:
    """Return the statements of a database of PostgreSQL."""
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    statements = []
    for table in Base.metadata.sorted_tables:
        statements.append(str(CreateTable(table).compile(dialect=dialect)))
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        statements += [str(CreateIndex(index).compile(dialect=dialect)) for index in indexes]
    statements += AUDIT_RULES
    statements.append("CREATE TABLE alembic_version (version_num VARCHAR(32) PRIMARY KEY)")
    revision = f"VALUES ('{newest_revision()}')"
    statements.append("INSERT INTO alembic_version " + revision)
    return "".join(f"{statement.strip()};\n" for statement in statements)


def main() -> None:
    """Write the files."""
    for file, made in ((NEWEST, schema), (NEWEST_ON_SERVERS, server_schema)):
        file.write_text(made(), encoding="utf-8")
        sys.stdout.write(f"{file}: {len(made().splitlines())} lines\n")


if __name__ == "__main__":
    main()
