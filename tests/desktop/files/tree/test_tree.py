import os
from io import FileIO
from pathlib import Path

import pytest

from deskhand.desktop.files.errors import BadPath, MissingFile, NoSpaceLeft, OutsideRoots
from deskhand.desktop.files.roots import Roots
from deskhand.desktop.files.tree.tree import (
    append,
    make_directory,
    opened_for_append,
    remove,
    status,
)


def extended(path: Path, data: bytes) -> None:
    with os.fdopen(opened_for_append(path), "ab", buffering=0) as file:
        append(file, data, path)


def test_a_status_is_of_what_a_link_leads_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("abc")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "fifo")
    assert status(tmp_path / "link")["bytes"] == 3
    kinds = [status(tmp_path / name)["kind"] for name in (".", "link", "fifo")]
    assert kinds == ["directory", "file", "other"]
    with pytest.raises(MissingFile):
        status(tmp_path / "none")


def test_a_directory_is_made_with_its_parents(tmp_path: Path) -> None:
    for _ in range(2):
        make_directory(tmp_path / "a/b")
    (tmp_path / "link").symlink_to("a")
    make_directory(tmp_path / "link/c")
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["b", "c"]
    (tmp_path / "file").touch()
    with pytest.raises(BadPath):
        make_directory(tmp_path / "file")


def test_a_file_is_extended_or_made(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("sub/file")
    for data in (b"one ", b"two"):
        extended(tmp_path / "link", data)
    assert (tmp_path / "sub/file").read_bytes() == b"one two"
    os.mkfifo(tmp_path / "fifo")
    for name in (".", "fifo"):
        with pytest.raises(BadPath):
            opened_for_append(tmp_path / name)


class FullFile:
    """A file whose disk takes two bytes more."""

    def __init__(self, file: FileIO) -> None:
        self._file = file

    def fileno(self) -> int:
        return self._file.fileno()

    def write(self, data: bytes) -> int:
        if len(data) < 5:
            raise OSError(28, "No space left on device")
        return self._file.write(data[:2])


def test_a_file_for_which_there_is_no_room_keeps_its_content(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before")
    with path.open("ab", buffering=0) as file, pytest.raises(NoSpaceLeft):
        append(FullFile(file), b"12345", path)  # type: ignore[arg-type]
    assert path.read_bytes() == b"before"


def test_what_is_removed(tmp_path: Path) -> None:
    (tmp_path / "full/sub").mkdir(parents=True)
    (tmp_path / "full/file").touch()
    (tmp_path / "link").symlink_to("full")
    remove(tmp_path / "link", recursive=True)
    assert (tmp_path / "full/file").exists()
    with pytest.raises(BadPath, match="not empty"):
        remove(tmp_path / "full")
    remove(tmp_path / "full/file")
    remove(tmp_path / "full/sub")
    (tmp_path / "full/link").symlink_to(tmp_path)
    remove(tmp_path / "full", recursive=True)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(MissingFile):
        remove(tmp_path / "full")
    with pytest.raises(BadPath):
        remove(Path("/"), recursive=True)


def test_nothing_outside_of_the_roots_changes(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    (outside / "sub").mkdir(parents=True)
    (inside / "link").symlink_to(outside)
    (inside / "file").symlink_to(outside / "file")
    roots = Roots.of((inside,))
    for act in (
        lambda: status(inside / "link/sub", roots),
        lambda: make_directory(inside / "link/new", roots),
        lambda: opened_for_append(inside / "file", roots),
        lambda: remove(inside / "link/sub", roots),
        lambda: remove(outside / "sub", roots),
    ):
        with pytest.raises(OutsideRoots):
            act()
    assert [path.name for path in outside.iterdir()] == ["sub"]
