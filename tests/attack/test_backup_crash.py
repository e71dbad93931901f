"""SIGKILL in the middle of a backup, a restore and a migration: nothing is lost.

Each run is a process of its own, forked, that kills itself at one moment: while it writes or reads
the object of a given number.
"""

import asyncio
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import nullcontext
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import Connection, create_engine, event

from deskhand.tools.backup.backup import Backup
from deskhand.tools.backup.directory import DataDirectory
from deskhand.tools.backup.manifest import Manifest
from deskhand.tools.backup.place import FolderPlace
from deskhand.tools.backup.restore import chosen_manifest, restore
from deskhand.tools.store.creation.creation import migrate, newest_revision, revisions_for, upgrade
from deskhand.tools.store.creation.migration import migrate_file, revision_of

pytestmark = pytest.mark.attack
FILES = 4


class KilledPlace(FolderPlace):
    """Kills the process in the middle of an object, after some that are written or read."""

    def __init__(self, root: Path, *, written: int = -1, read: int = -1) -> None:
        super().__init__(root)
        self._written, self._read = written, read

    async def put(self, name: str, source: Path) -> None:
        """Store an object, or begin to and die."""
        if self._written == 0:
            self._path(name).with_name(".killed.part").write_bytes(b"a part")
            os.kill(os.getpid(), signal.SIGKILL)
        self._written -= 1
        await super().put(name, source)

    def _path(self, name: str) -> Path:
        path = self._root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    async def read(self, name: str) -> AsyncIterator[bytes]:
        """Yield the first byte of an object, then die, or all of it."""
        async for chunk in super().read(name):
            if self._read == 0:
                yield chunk[:1]
                os.kill(os.getpid(), signal.SIGKILL)
            self._read -= 1
            yield chunk


def in_child(work: Callable[[], object]) -> int:
    """Run something in a forked process; return the signal that ended it, 0 if none did."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001 - the fork must never return into pytest
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert not os.WIFEXITED(status) or os.WEXITSTATUS(status) == 0
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def backed_up(data: Path, place: FolderPlace, at: float) -> Manifest:
    made = Backup(DataDirectory(data, nullcontext), place)

    def text_file(text: str) -> Path:
        path = data.parent / "manifest"
        path.write_text(text)
        return path

    return asyncio.run(made.run(Manifest(at, "1", ()), text_file))


def restored(place: FolderPlace, target: Path) -> Manifest:
    async def work() -> Manifest:
        manifest = await chosen_manifest(place, None)
        await restore(place, manifest, target, None, os.geteuid())
        return manifest

    return asyncio.run(work())


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "files/aa").mkdir(parents=True)
    with sqlite3.connect(folder / "deskhand.db") as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE files (id)")
        database.execute("INSERT INTO files VALUES ('0')")
    database.close()
    (folder / "files/aa/0").write_bytes(b"first")
    return folder


@pytest.mark.parametrize("whole", range(FILES + 2))
def test_a_killed_backup_leaves_the_one_before(data: Path, tmp_path: Path, whole: int) -> None:
    place = FolderPlace(tmp_path / "place")
    first = backed_up(data, place, 1.0)
    for number in range(1, FILES):
        (data / f"files/aa/{number}").write_bytes(b"new" * number)
    with sqlite3.connect(data / "deskhand.db") as database:
        database.execute("INSERT INTO files VALUES ('1')")
    database.close()
    killed = KilledPlace(tmp_path / "place", written=whole)
    ended = in_child(lambda: backed_up(data, killed, 2.0))
    # Three files, the database and the manifest are new.
    assert ended == (signal.SIGKILL if whole < FILES + 1 else 0)
    found = restored(place, tmp_path / "target")
    assert found == first if ended else found.at == 2.0
    # The next one continues, and has all that is there.
    place.remove_unfinished()
    assert len(backed_up(data, place, 3.0).files) == FILES + 1
    assert restored(place, tmp_path / "again").at == 3.0
    assert (tmp_path / "again/files/aa/3").read_bytes() == b"new" * 3
    with sqlite3.connect(data / "deskhand.db") as database:
        assert database.execute("SELECT count(*) FROM files").fetchone() == (2,)
    database.close()


@pytest.mark.parametrize("whole", [1, 2, 3])
def test_a_killed_restore_leaves_the_directory_empty(
    data: Path, tmp_path: Path, whole: int
) -> None:
    (data / "files/aa/1").write_bytes(b"second")
    place = FolderPlace(tmp_path / "place")
    made = backed_up(data, place, 1.0)
    target = tmp_path / "target"
    target.mkdir()
    # The first object that is read is the manifest.
    killed = KilledPlace(tmp_path / "place", read=whole)
    assert in_child(lambda: restored(killed, target)) == signal.SIGKILL
    assert list(target.iterdir()) == []
    assert restored(place, target) == made
    assert (target / "files/aa/1").read_bytes() == b"second"
    assert not (tmp_path / ".target.restoring").exists()


@pytest.mark.parametrize("statements", [0, 1, 5, 20, 40])
def test_a_killed_migration_leaves_the_database_as_it_was(tmp_path: Path, statements: int) -> None:
    path = tmp_path / "deskhand.db"
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        migrate(connection)
    with engine.begin() as connection:
        command.downgrade(revisions_for(connection), "0036")
    engine.dispose()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE kept (name)")
        database.execute("INSERT INTO kept VALUES ('one')")
    database.close()

    def killed(connection: Connection) -> None:
        left = iter(range(statements))

        def count(*_: object) -> None:
            if next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)

        event.listen(connection, "before_cursor_execute", count)
        upgrade(connection)

    assert in_child(lambda: migrate_file(path, killed)) == signal.SIGKILL
    assert revision_of(path) == "0036"
    migrate_file(path)
    assert revision_of(path) == newest_revision()
    assert sorted(found.name for found in tmp_path.iterdir()) == [
        "deskhand.db",
        "deskhand.db.before-0036",
    ]
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT name FROM kept").fetchall() == [("one",)]
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
