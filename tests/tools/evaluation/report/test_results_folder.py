"""The folder of an evaluation."""

from pathlib import Path

import pytest

from deskhand.tools.evaluation.report.results_folder import (
    load_result,
    new_folder,
    write_page,
    write_result,
)
from deskhand.tools.evaluation.result import UnreadableResult
from tests.tools.evaluation.report.given import a_result, a_run

RESULT = a_result(a_run("a", 1, "passed"))


def test_a_result_is_read_back_from_its_file_or_folder(tmp_path: Path) -> None:
    folder = new_folder(tmp_path / "deep" / "out")
    write_result(folder, RESULT)
    write_page(folder, RESULT, None)
    assert load_result(folder) == load_result(folder / "result.json") == RESULT
    assert {path.name for path in folder.iterdir()} == {"result.json", "index.html"}


def test_without_a_name_the_folder_is_named_by_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert new_folder(None).name.startswith("deskhand-eval-")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableResult, match=r"none\.json: No such file"):
        load_result(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(UnreadableResult, match=r"bad\.json: it is not JSON"):
        load_result(tmp_path / "bad.json")
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(UnreadableResult, match=r"other\.json: it is no result"):
        load_result(tmp_path / "other.json")


def test_a_result_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    write_result(tmp_path, RESULT)
    (tmp_path / ".result.json.part").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_result(tmp_path, RESULT)
    (tmp_path / ".result.json.part").rmdir()
    assert load_result(tmp_path) == RESULT
