"""Tasks on disk."""

import json
from pathlib import Path

import pytest

from deskhand.tools.evaluation.errors import BadTask
from deskhand.tools.evaluation.form.library import PACKAGED, find_tasks, load_task, load_task_script

TASK = "name: {}\nprompt: Do it.\ntags: [{}]\nchecker: {{command: ls}}\n"
SCRIPT = 'steps: [{say: "{base_url}"}]'


def make(folder: Path, name: str, tag: str = "form", more: str = "") -> Path:
    (folder / name).mkdir()
    file = folder / name / "task.yaml"
    file.write_text(TASK.format(name, tag) + more)
    return file


def names(*chosen: str, tags: tuple[str, ...] = ()) -> list[str]:
    return [task.name for task in find_tasks(chosen, tags)]


def problem(*chosen: str, tags: tuple[str, ...] = ()) -> str:
    with pytest.raises(BadTask) as error:
        find_tasks(chosen, tags)
    return str(error.value)


def test_tasks_are_found_by_file_folder_and_folder_of_folders(tmp_path: Path) -> None:
    make(tmp_path, "b", "table")
    file = make(tmp_path, "a")
    assert names(str(file)) == ["a"]
    assert names(str(file.parent), str(file)) == ["a"]
    assert names(str(tmp_path)) == ["a", "b"]
    assert names(str(tmp_path), tags=("table",)) == ["b"]


def test_packaged_tasks_are_found_by_name_and_are_the_default() -> None:
    assert names("order-form") == ["order-form"]
    assert len(names()) == len(list(PACKAGED.glob("*/task.yaml")))


def test_what_selects_nothing_is_an_error_with_the_nearest_name(tmp_path: Path) -> None:
    make(tmp_path, "a")
    assert "order-from: is no file, folder or packaged task; did you mean" in problem("order-from")
    assert "no/such: is no file" in problem("no/such")
    assert "no task has the tag 'from'; did you mean 'form'?" in problem(
        str(tmp_path), tags=("from",)
    )
    (tmp_path / "empty").mkdir()
    assert "no task.yaml is in this folder" in problem(str(tmp_path / "empty"))


def test_two_tasks_with_one_name_are_refused(tmp_path: Path) -> None:
    make(tmp_path, "a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "task.yaml").write_text(TASK.format("a", "form"))
    assert "another task has the name 'a' too" in problem(str(tmp_path))


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("oracle: oracle.yaml\n", "a/task.yaml: oracle.yaml is not a file beside it"),
        ("setup: {files: {a: {from: b.txt}}}\n", "b.txt is not a file beside it"),
        ("setup: {serve: pages}\n", "serve: pages is not a folder beside it"),
    ],
)
def test_a_missing_file_is_named(tmp_path: Path, more: str, expected: str) -> None:
    assert expected in problem(str(make(tmp_path, "a", more=more)))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    file = make(tmp_path, "a")
    file.write_bytes(b"\xff\xfe")
    assert "cannot be read: it is not UTF-8" in problem(str(file))
    with pytest.raises(BadTask, match="cannot be read: No such file"):
        load_task(tmp_path / "none.yaml")


def test_scripts_are_checked_and_their_places_filled(tmp_path: Path) -> None:
    file = make(tmp_path, "a", more="oracle: oracle.yaml\n")
    script = file.with_name("oracle.yaml")
    script.write_text(SCRIPT)
    task = load_task(file)
    read = load_task_script(task, "oracle.yaml", "a-oracle-1", {"base_url": "http://x"})
    assert (read.name, read.steps[0].say) == ("a-oracle-1", "http://x")
    script.write_text("steps: [{sey: a}]")
    assert "a/oracle.yaml: steps.0.sey: unknown" in problem(str(file))
    script.write_bytes(b"\xff")
    assert "a/oracle.yaml: cannot be read" in problem(str(file))


def test_a_json_file_is_a_task_of_osworld(tmp_path: Path) -> None:
    evaluator = {"func": "process", "expected": {"type": "rule", "rules": {"include": ["top"]}}}
    task = {"id": "top-1", "instruction": "Start top.", "config": [], "evaluator": evaluator}
    file = tmp_path / "top.json"
    file.write_text(json.dumps(task))
    (found,) = find_tasks([str(file)])
    assert (found.name, found.tags) == ("top-1", ("osworld",))
    assert "def check_conditions(" in str(found.checker.python)
