"""The packaged tasks of `deskhand eval`: the oracle of each passes, its wrong script fails."""

import json
from pathlib import Path

import pytest

from deskhand.tools.evaluation.form.library import find_tasks
from tests.system.evaluating import evaluate

pytestmark = [pytest.mark.x11, pytest.mark.eval]


QUICK = (
    *("config-edit", "dialog-delete", "human-folder", "inject-readme", "order-form"),
    *("room-plan", "table-approve", "two-windows-prices"),
)
"""A task of each tag; all of them run before a release."""


def test_a_task_of_each_tag_is_played() -> None:
    tags = {task.name: set(task.tags) for task in find_tasks(())}
    assert set().union(*(tags[name] for name in QUICK)) == set().union(*tags.values())


@pytest.mark.slow("runs many packaged tasks")
@pytest.mark.parametrize(("mode", "status"), [("oracle", "passed"), ("wrong", "failed")])
@pytest.mark.parametrize(
    "names",
    [pytest.param(QUICK, id="quick"), pytest.param((), id="all", marks=pytest.mark.full)],
)
def test_packaged_tasks_are_proven_by_their_scripts(
    names: tuple[str, ...], mode: str, status: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ended = evaluate(out, f"--{mode}", "--parallel", "2", *names)
    runs = json.loads((out / "result.json").read_text())["runs"]
    odd = [(run["task"], run["status"], run["reason"]) for run in runs if run["status"] != status]
    assert odd == [], ended.stdout + ended.stderr
    assert ended.returncode == 0, ended.stderr
    assert {run["task"] for run in runs} == {task.name for task in find_tasks(names)}
