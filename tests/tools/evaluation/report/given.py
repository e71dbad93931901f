"""Results for tests of reports."""

from deskhand.tools.evaluation.result import EvaluationResult, RunCost, RunResult, Status


def a_run(task: str, number: int, status: Status, usd: float | None = 0.25) -> RunResult:
    """Return a run of a task with the tag ``form``."""
    cost = RunCost(4, 3, 2, 100, 10, 1000, 50, usd, 12.0)
    reason = "" if status == "passed" else f"<b>{task}</b> is wrong"
    kind = "setup" if status == "error" else None
    return RunResult(task, number, status, reason, kind, tags=("form",), cost=cost)


def a_result(*runs: RunResult, model: str = "model-1") -> EvaluationResult:
    """Return a result with these runs."""
    return EvaluationResult(model, "model", (("effort", "low"),), 2, runs, "0.1.0", 0.0, 60.0)
