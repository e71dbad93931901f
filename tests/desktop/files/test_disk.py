import os
from pathlib import Path

import pytest

from deskhand.desktop.files.disk import (
    Replacement,
    absolute,
    entries,
    replace,
    resolved,
    target,
    translated_errors,
)
from deskhand.desktop.files.errors import (
    BadPath,
    FileError,
    Forbidden,
    MissingFile,
    NoSpaceLeft,
    ReadOnly,
)
from deskhand.desktop.files.reading import chunks, opened


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_nobody_sees_new_content_before_the_commit(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    with Replacement(file) as new:
        new.write(b"new")
        assert file.read_text() == "old"
        new.commit()
        assert file.read_text() == "new"
    assert names(tmp_path) == ["f"]


def test_without_a_commit_nothing_has_happened(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    with Replacement(file) as new:
        new.write(b"new")
    assert file.read_text() == "old"
    assert names(tmp_path) == ["f"]


def test_a_body_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), Replacement(tmp_path / "f"):
        raise RuntimeError
    assert names(tmp_path) == []


def test_writing_after_the_commit_is_told(tmp_path: Path) -> None:
    with Replacement(tmp_path / "f") as new:
        new.commit()
        with pytest.raises(FileError, match="not open"):
            new.write(b"x")


def test_mode_is_kept_and_new_files_follow_the_umask(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.touch()
    file.chmod(0o4751)
    replace(file, b"x")
    assert file.stat().st_mode & 0o7777 == 0o4751
    before = os.umask(0o027)
    try:
        replace(tmp_path / "new", b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_is_kept_where_permitted(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.touch()
    os.chown(file, 12345, 54321)
    replace(file, b"x")
    assert (file.stat().st_uid, file.stat().st_gid) == (12345, 54321)


def test_links_are_followed_to_what_does_not_exist_yet(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("other")
    (tmp_path / "other").symlink_to("new/file")
    replace(tmp_path / "link", b"x")
    assert (tmp_path / "new/file").read_text() == "x"
    assert (tmp_path / "link").is_symlink()


def test_forty_links_are_followed_and_no_more(tmp_path: Path) -> None:
    for number in range(41):
        (tmp_path / str(number)).symlink_to(str(number + 1))
    assert target(tmp_path / "1") == tmp_path / "41"
    with pytest.raises(FileError, match="/0': too many levels"):
        target(tmp_path / "0")
    assert resolved(tmp_path / "1") == tmp_path.resolve() / "41"
    with pytest.raises(FileError, match="/0': too many levels"):
        resolved(tmp_path / "0")
    (tmp_path / "41").touch()
    with opened(tmp_path / "1"):
        pass
    with pytest.raises(FileError, match="/0': too many levels"), opened(tmp_path / "0"):
        pass


def test_a_long_name_can_be_written(tmp_path: Path) -> None:
    replace(tmp_path / ("n" * 255), b"x")
    assert names(tmp_path) == ["n" * 255]


@pytest.mark.parametrize("path", ["file/inner", "folder", "file/inner/deeper"])
def test_what_cannot_be_a_file_is_refused(path: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(BadPath):
        replace(tmp_path / path, b"x")
    assert names(tmp_path) == ["file", "folder"]


def test_paths_are_absolute_and_clean() -> None:
    assert absolute("/a/../b/./c") == Path("/b/c")
    for path in ("", "a", "./a", "~/a", "/a\0"):
        with pytest.raises(BadPath):
            absolute(path)


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo"):
        with pytest.raises(BadPath, match=r"not a (regular )?file"), opened(path):
            pass
    with pytest.raises(MissingFile), opened(tmp_path / "absent"):
        pass


def test_a_file_comes_in_pieces(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 3_000_000)
    with opened(tmp_path / "f") as file:
        assert [len(piece) for piece in chunks(file)] == [1_048_576, 1_048_576, 902_848]


def test_links_are_resolved_and_absent_parts_kept(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("real")
    assert resolved(tmp_path / "link/absent") == tmp_path.resolve() / "real/absent"
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(FileError, match="too many levels"):
        resolved(tmp_path / "loop")


def test_directories_come_first_then_names_by_bytes(tmp_path: Path) -> None:
    for name in ("b", "B", "é", "a"):
        (tmp_path / name).touch()
    (tmp_path / "z").mkdir()
    assert [entry.name for entry in entries(tmp_path)] == ["z", "B", "a", "b", "é"]
    with pytest.raises(BadPath, match="not a directory"):
        entries(tmp_path / "a")


FAILING: list[tuple[OSError, type[FileError]]] = [
    (FileNotFoundError(), MissingFile),
    (PermissionError(), Forbidden),
    (NotADirectoryError(), BadPath),
    (OSError(30, "Read-only file system"), ReadOnly),
    (OSError(28, "No space left on device"), NoSpaceLeft),
    (OSError(5, "Input/output error"), FileError),
]


@pytest.mark.parametrize(("error", "told_as"), FAILING)
def test_errors_of_the_system_are_told_with_the_path(
    error: OSError, told_as: type[FileError]
) -> None:
    with pytest.raises(told_as, match="/f") as caught, translated_errors("/f"):
        raise error
    assert caught.value.__cause__ is error


def test_a_name_that_is_too_long_is_the_callers_fault(tmp_path: Path) -> None:
    with pytest.raises(BadPath, match="too long"), translated_errors(tmp_path):
        (tmp_path / ("x" * 300)).read_bytes()
