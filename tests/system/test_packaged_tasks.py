"""The packaged tasks of `deskhand eval`: the oracle of each passes, its wrong script fails."""

import json
from pathlib import Path

import pytest

from deskhand.tools.evaluation.form.library import find_tasks
from tests.system.evaluating import evaluate

pytestmark = [pytest.mark.x11, pytest.mark.eval]


@pytest.mark.slow("runs every packaged task")
@pytest.mark.parametrize(("mode", "status"), [("oracle", "passed"), ("wrong", "failed")])
def test_every_packaged_task_is_proven_by_its_scripts(
    mode: str, status: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ended = evaluate(out, f"--{mode}", "--parallel", "2")
    runs = json.loads((out / "result.json").read_text())["runs"]
    odd = [(run["task"], run["status"], run["reason"]) for run in runs if run["status"] != status]
    assert odd == [], ended.stdout + ended.stderr
    assert ended.returncode == 0, ended.stderr
    assert {run["task"] for run in runs} == {task.name for task in find_tasks(())}
