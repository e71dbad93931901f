from pathlib import Path

import pytest

from deskhand.desktop.files.disk import Replacement
from deskhand.desktop.files.edit_batch import MOST_OPEN, BatchFailed, edit_all
from deskhand.desktop.files.editing.edits import Edit
from deskhand.desktop.files.errors import ChangedMeanwhile, FileError
from deskhand.desktop.files.requests import FileEdits
from deskhand.desktop.files.roots import Roots


def files(*paths: Path, old: str = "old", new: str = "new") -> list[FileEdits]:
    return [
        FileEdits(str(path), (Edit(old, new, False, f"files[{n}].edits[0]"),), f"files[{n}]")
        for n, path in enumerate(paths)
    ]


@pytest.fixture
def three(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / name for name in "abc"]
    for path in paths:
        path.write_text("old")
    return paths


def contents(paths: list[Path]) -> list[str]:
    return [path.read_text() for path in paths]


class FailingReplacement(Replacement):
    """Fails on the third file, at the step that the test chose."""

    step = "commit"

    def __init__(self, path: Path, roots: Roots) -> None:
        super().__init__(path, roots)
        self.fails = path.name == "c"

    def write(self, data: bytes) -> None:
        if self.fails and self.step == "write":
            raise FileError("disk full")
        super().write(data)

    def commit(self) -> None:
        if self.fails and self.step == "commit":
            raise FileError("disk full")
        super().commit()


class FailingWrite(FailingReplacement):
    step = "write"


def test_all_are_changed(three: list[Path]) -> None:
    results = edit_all(files(*three))
    assert contents(three) == ["new"] * 3
    assert "-old\n" in results[0].diff()


@pytest.mark.parametrize("opener", [FailingReplacement, FailingWrite])
def test_a_failure_while_writing_puts_all_back(
    opener: type[Replacement], three: list[Path]
) -> None:
    with pytest.raises(BatchFailed, match="disk full") as failed:
        edit_all(files(*three), opener)
    assert failed.value.status == 500
    assert contents(three) == ["old"] * 3
    assert len(list(three[0].parent.iterdir())) == 3


class Counting(Replacement):
    """Counts the open descriptors of the process at each step."""

    def __init__(self, path: Path, roots: Roots) -> None:
        super().__init__(path, roots)
        self._note()

    def digest(self) -> str | None:
        found = super().digest()
        self._note()
        return found

    def commit(self) -> None:
        super().commit()
        self._note()

    def _note(self) -> None:
        COUNTS.append(len(list(Path("/proc/self/fd").iterdir())))


COUNTS: list[int] = []


def test_the_open_descriptors_of_a_large_batch_are_bounded(tmp_path: Path) -> None:
    many = [tmp_path / str(number) for number in range(MOST_OPEN + 16)]
    for path in many:
        path.write_text("old")
    COUNTS.clear()
    edit_all(files(*many), Counting)
    assert contents(many) == ["new"] * len(many)
    assert max(COUNTS) <= COUNTS[0] + 2 * MOST_OPEN
    assert len(list(tmp_path.iterdir())) == len(many)


def test_a_large_batch_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    many = [tmp_path / str(number) for number in (*range(MOST_OPEN + 2), "c")]
    for path in many:
        path.write_text("old")
    for opener in (FailingWrite, FailingReplacement):
        with pytest.raises(BatchFailed, match="disk full"):
            edit_all(files(*many), opener)
        assert contents(many) == ["old"] * len(many)
        assert len(list(tmp_path.iterdir())) == len(many)


@pytest.mark.parametrize("exchanged", ["file", "directory"])
def test_what_takes_the_place_of_a_released_replacement_is_not_used(
    tmp_path: Path, exchanged: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "f").write_text("old")
    with Replacement(folder / "f") as new:
        new.write(b"new")
        new.release()
        (temporary,) = (path for path in folder.iterdir() if path.name != "f")
        if exchanged == "directory":
            folder.rename(tmp_path / "moved")
            folder.mkdir()
        temporary.unlink(missing_ok=True)
        temporary.write_text("foreign")
        with pytest.raises(ChangedMeanwhile):
            new.commit()
    assert not (folder / "f").exists() or (folder / "f").read_text() == "old"


def test_what_cannot_be_put_back_is_told(three: list[Path]) -> None:
    class Vanishing(FailingReplacement):
        def commit(self) -> None:
            if self.fails:
                three[0].unlink()
                three[0].mkdir()
            super().commit()

    with pytest.raises(BatchFailed, match=r"disk full\n.*could not be put back"):
        edit_all(files(*three), Vanishing)
    assert contents(three[1:]) == ["old"] * 2


def test_every_problem_is_named_and_the_worst_status_wins(three: list[Path]) -> None:
    asked = [*files(three[0], old="nowhere"), *files(three[0].parent / "absent")]
    asked += [FileEdits("relative", (), "files[2]"), FileEdits(str(three[1]), (), "files[3]")]
    with pytest.raises(BatchFailed) as failed:
        edit_all(asked)
    assert failed.value.status == 404
    assert len(str(failed.value).splitlines()) == 4
    assert "files[2].path must be absolute" in str(failed.value)
    assert "files[3]: specify at least one edit" in str(failed.value)


def test_a_file_that_stays_as_it_is_is_not_written(three: list[Path]) -> None:
    before = three[0].stat().st_ino
    (result,) = edit_all(files(three[0], new="old"))
    assert three[0].stat().st_ino == before
    assert result.diff() == ""


def test_bytes_that_are_no_utf8_survive(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"\xff old \xfe\n")
    (result,) = edit_all(files(path))
    assert path.read_bytes() == b"\xff new \xfe\n"
    assert "+\ufffd new \ufffd" in result.diff()


def test_two_names_of_one_file_are_refused(three: list[Path]) -> None:
    link = three[0].parent / "link"
    link.symlink_to(three[0])
    with pytest.raises(BatchFailed, match="aliases"):
        edit_all(files(three[0], link))
    assert contents(three) == ["old"] * 3
