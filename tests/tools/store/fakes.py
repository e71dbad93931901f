"""Rows and databases for tests."""

import asyncio
import functools
import tempfile
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from sqlalchemy import create_engine

from deskhand.tools.store.creation.creation import migrate
from deskhand.tools.store.schema import ChatRow
from tests.postgres_server import ChosenServer


def database(path: Path) -> Path | str:
    """Return where the database of a file is; a new one is migrated and has no rows.

    To migrate a new one takes four times as long as to open it. It is the file, or with the option
    ``--postgresql`` the URL of a database that stands for it.
    """
    if ChosenServer.server is not None:
        return ChosenServer.server.at(path)
    return database_file(path)


def database_file(path: Path) -> Path:
    """Put a migrated database of SQLite in a place that has none, and return the place."""
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


class FakePatience:
    """Reports to the test that a caller waits."""

    def __init__(self) -> None:
        self.waits = asyncio.Event()
        self.waiting_now = 0

    def waiting(self) -> AbstractAsyncContextManager[None]:
        return self._waiting()

    @asynccontextmanager
    async def _waiting(self) -> AsyncIterator[None]:
        self.waiting_now += 1
        self.waits.set()
        try:
            yield
        finally:
            self.waiting_now -= 1
