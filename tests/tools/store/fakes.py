"""Rows and databases for tests."""

import functools
import tempfile
from pathlib import Path

from sqlalchemy import create_engine

from deskhand.tools.store.creation.creation import migrate
from deskhand.tools.store.schema import ChatRow


def database(path: Path) -> Path:
    """Put a migrated database without rows in a place that has none, and return the place.

    To migrate a new one takes four times as long as to open it.
    """
    if not path.exists():
        path.write_bytes(_migrated())
    return path


@functools.cache
def _migrated() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "deskhand.db"
        engine = create_engine(f"sqlite:///{path}")
        with engine.begin() as connection:
            migrate(connection)
        engine.dispose()
        return path.read_bytes()


def chat_row(name: str, *, parent: str | None = None, created: float = 1.0) -> ChatRow:
    return ChatRow(
        id=name,
        parent_id=parent,
        root_id=parent or name,
        title=f"Chat {name}",
        mode="general",
        model=None,
        state="waiting",
        archived=False,
        requested_desktop=None,
        desktop_id=None,
        token_name=None,
        budget={},
        turn=0,
        version=0,
        created_at=created,
        updated_at=created,
    )
