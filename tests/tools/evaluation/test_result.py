"""Results and their stored form."""

import json
from dataclasses import replace

import pytest

from deskhand.tools.evaluation.result import (
    EvaluationResult,
    RunCost,
    RunResult,
    UnreadableResult,
    of_task,
    read_result,
)

COST = RunCost(3, 2, 4, 10, 20, 30, 40, 0.5, 6.5)


def test_costs_are_added() -> None:
    assert RunCost().plus(COST) == COST
    assert COST.plus(COST) == RunCost(6, 4, 8, 20, 40, 60, 80, 1.0, 13.0)
    unknown = RunCost(usd=None)
    assert unknown.plus(COST) == COST.plus(unknown) == replace(COST, usd=None)


RESULT = EvaluationResult(
    "model-1",
    "model",
    (("effort", "low"),),
    2,
    (
        RunResult("b", 2, "failed", "why", tags=("form",), cost=COST),
        RunResult("b", 1, "passed"),
        RunResult("a", 1, "error", error_kind="setup"),
    ),
    "0.1.0",
    1.0,
    2.0,
)


def test_a_result_survives_its_stored_form() -> None:
    stored = json.loads(json.dumps(RESULT.to_json()))
    assert stored["runs"][0]["cost"]["tokens"] == 100
    assert read_result(stored) == RESULT


@pytest.mark.parametrize(
    "change",
    [
        lambda stored: stored.pop("model"),
        lambda stored: stored.update(format=99),
        lambda stored: stored.update(runs=[{"task": "a"}]),
        lambda stored: stored.update(settings=[]),
        lambda stored: stored["runs"][0].update(unknown=1),
        lambda stored: stored.update(repeat="many"),
    ],
)
def test_another_form_is_refused(change: "object") -> None:
    stored = RESULT.to_json()
    assert callable(change)
    change(stored)
    with pytest.raises(UnreadableResult):
        read_result(stored)
    with pytest.raises(UnreadableResult):
        read_result([])


def test_runs_of_a_task_are_in_order() -> None:
    assert [run.number for run in of_task(RESULT.runs, "b")] == [1, 2]


def test_notes_are_added() -> None:
    run = RESULT.runs[0].with_note("One.").with_note("Two.")
    assert run.note == "One. Two."
