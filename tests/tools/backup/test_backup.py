"""Backups and restores of a data directory, in a folder and in a bucket."""

import asyncio
import sqlite3
from contextlib import nullcontext
from pathlib import Path

import pytest

from deskhand.tools.backup.backup import Backup
from deskhand.tools.backup.directory import DataDirectory
from deskhand.tools.backup.errors import BackupBusy, DamagedBackup, NoBackup, NotEmpty
from deskhand.tools.backup.manifest import Manifest, object_name
from deskhand.tools.backup.place import BackupPlace, FolderPlace
from deskhand.tools.backup.restore import chosen_manifest, restore
from deskhand.tools.store.errors import StoreError


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "files/aa").mkdir(parents=True)
    (folder / "run").mkdir()
    (folder / "run/plane.json").write_text("{}")
    (folder / "token").write_text("token")
    (folder / "secrets.key").write_text("key")
    (folder / "files/aa/one").write_bytes(b"one")
    (folder / "link").symlink_to("/etc/passwd")
    database = sqlite3.connect(folder / "deskhand.db")
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("CREATE TABLE files (id)")
    database.execute("INSERT INTO files VALUES ('one')")
    database.commit()
    database.close()
    return folder


def text_file(folder: Path, text: str) -> Path:
    path = folder / "manifest"
    path.write_text(text)
    return path


class Backups:
    """Backups of one data directory at increasing times."""

    def __init__(self, data: Path, place: BackupPlace) -> None:
        self.data = data
        self.place = place
        self.at = 0.0

    def make(self) -> tuple[Manifest, int]:
        """Make a backup; return its manifest and the number of new objects."""
        self.at += 1.0
        made = Backup(DataDirectory(self.data, nullcontext), self.place)
        empty = Manifest(self.at, "1.0", ())
        run = made.run(empty, lambda text: text_file(self.data.parent, text))
        return asyncio.run(run), made.totals.objects

    def restore(self, target: Path, name: str | None = None) -> Manifest:
        async def work() -> Manifest:
            manifest = await chosen_manifest(self.place, name)
            await restore(self.place, manifest, target, ("secrets.key", b"key"), 0)
            return manifest

        return asyncio.run(work())


@pytest.fixture
def backups(data: Path, tmp_path: Path) -> Backups:
    return Backups(data, FolderPlace(tmp_path / "place"))


def test_a_backup_is_restored_as_it_was(backups: Backups, tmp_path: Path) -> None:
    made, _ = backups.make()
    assert [file.path for file in made.files] == ["deskhand.db", "files/aa/one", "token"]
    target = tmp_path / "target"
    target.mkdir()
    assert backups.restore(target) == made
    assert (target / "files/aa/one").read_bytes() == b"one"
    assert (target / "token").stat().st_mode & 0o777 == 0o600
    rows = sqlite3.connect(target / "deskhand.db").execute("SELECT id FROM files").fetchall()
    assert rows == [("one",)]


def test_the_next_backup_copies_only_what_is_new(backups: Backups, tmp_path: Path) -> None:
    first, _ = backups.make()
    (backups.data / "files/aa/two").write_bytes(b"two")
    second, objects = backups.make()
    assert objects == 1
    assert len(second.files) == len(first.files) + 1
    backups.restore(tmp_path / "first", first.name)
    assert not (tmp_path / "first/files/aa/two").exists()


def test_only_one_backup_of_a_directory_runs(backups: Backups) -> None:
    directory = DataDirectory(backups.data, nullcontext)
    with directory.locked(), pytest.raises(BackupBusy):
        backups.make()


def test_a_restore_needs_an_empty_directory(backups: Backups, tmp_path: Path) -> None:
    backups.make()
    with pytest.raises(NotEmpty, match="not empty"):
        backups.restore(backups.data)
    (tmp_path / "file").touch()
    with pytest.raises(NotEmpty, match="not a directory"):
        backups.restore(tmp_path / "file")


@pytest.mark.parametrize("content", [b"other", None])
def test_a_damaged_object_is_found_and_nothing_is_restored(
    backups: Backups, tmp_path: Path, content: bytes | None
) -> None:
    made, _ = backups.make()
    path = tmp_path / "place" / object_name(made.files[1].sha256)
    path.write_bytes(content) if content is not None else path.unlink()
    with pytest.raises(DamagedBackup, match="files/aa/one"):
        backups.restore(tmp_path / "target")
    assert not (tmp_path / "target").exists()
    assert not list(tmp_path.glob(".target*"))


def test_a_place_without_backups_and_unknown_names_are_refused(
    backups: Backups, tmp_path: Path
) -> None:
    with pytest.raises(NoBackup):
        backups.restore(tmp_path / "target")
    backups.make()
    with pytest.raises(NoBackup, match="none-such"):
        backups.restore(tmp_path / "target", "none-such")


def test_unfinished_objects_of_a_killed_backup_are_no_objects(tmp_path: Path) -> None:
    place = FolderPlace(tmp_path)
    (tmp_path / "objects").mkdir()
    (tmp_path / "objects/.x.part").touch()
    assert asyncio.run(place.names()) == []
    place.remove_unfinished()
    assert not (tmp_path / "objects/.x.part").exists()


class Failing(FolderPlace):
    """A place that fails after some objects."""

    left = 1

    async def put(self, name: str, source: Path) -> None:
        """Store the first objects."""
        if self.left == 0:
            raise StoreError("full")
        self.left -= 1
        await super().put(name, source)


def test_a_backup_that_fails_leaves_the_one_before(data: Path, tmp_path: Path) -> None:
    whole = Backups(data, FolderPlace(tmp_path / "place"))
    made, _ = whole.make()
    (data / "files/aa/two").write_bytes(b"two")
    failing = Backups(data, Failing(tmp_path / "place"))
    failing.at = 1.0
    with pytest.raises(StoreError):
        failing.make()
    assert whole.restore(tmp_path / "target") == made
    # The object of the failed backup is used by the next one.
    assert whole.make()[1] == 0
