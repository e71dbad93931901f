"""The packaged tasks of `deskhand eval`: the oracle of each passes, its wrong script fails."""

import json
from itertools import chain
from pathlib import Path

import pytest

from deskhand.tools.evaluation.form.library import find_tasks
from tests.system.evaluating import evaluate

pytestmark = [pytest.mark.x11, pytest.mark.eval]

OF_EACH_KIND = (
    *("app-dialog", "canvas-frame", "file-upload", "human-folder", "inject-popup", "list-sort"),
    *("table-correct", "two-windows-console"),
)
"""Tasks that have all tags between them."""
RUNS = [("oracle", "passed"), ("wrong", "failed")]


def check_runs(out: Path, mode: str, status: str, *names: str) -> None:
    """Play a script of tasks, by default of all, and check that each run ends as it must."""
    ended = evaluate(out, f"--{mode}", "--parallel", "2", *names)
    runs = json.loads((out / "result.json").read_text())["runs"]
    odd = [(run["task"], run["status"], run["reason"]) for run in runs if run["status"] != status]
    assert odd == [], ended.stdout + ended.stderr
    assert ended.returncode == 0, ended.stderr
    assert {run["task"] for run in runs} == {task.name for task in find_tasks(names)}


@pytest.mark.slow("runs packaged tasks")
@pytest.mark.parametrize(("mode", "status"), RUNS)
def test_a_task_of_each_kind_is_proven_by_its_scripts(
    mode: str, status: str, tmp_path: Path
) -> None:
    quick, every = [
        set(chain.from_iterable(task.tags for task in find_tasks(names)))
        for names in (OF_EACH_KIND, ())
    ]
    assert quick == every
    check_runs(tmp_path / "out", mode, status, *OF_EACH_KIND)


@pytest.mark.full
@pytest.mark.slow("runs every packaged task")
@pytest.mark.parametrize(("mode", "status"), RUNS)
def test_every_packaged_task_is_proven_by_its_scripts(
    mode: str, status: str, tmp_path: Path
) -> None:
    check_runs(tmp_path / "out", mode, status)
