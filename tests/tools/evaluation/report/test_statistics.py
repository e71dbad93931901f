"""Rates with their confidence."""

import pytest

from deskhand.tools.evaluation.report.statistics import Rate, by_tag, by_task, summarize
from tests.tools.evaluation.report.given import a_run


@pytest.mark.parametrize(
    ("passed", "judged", "low", "high"),
    [
        (0, 0, 0.0, 1.0),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        # Newcombe (1998), table I.
        (81, 263, 0.2553, 0.3662),
        (1, 1, 0.2065, 1.0),
    ],
)
def test_the_interval_is_wilsons(passed: int, judged: int, low: float, high: float) -> None:
    assert Rate(passed, judged).interval == pytest.approx((low, high), abs=1e-4)


def test_errors_count_neither_as_success_nor_as_failure() -> None:
    runs = [a_run("a", 1, "passed"), a_run("a", 2, "failed"), a_run("a", 3, "error")]
    summary = summarize("a", runs)
    assert (summary.rate, summary.errors) == (Rate(1, 2), 1)
    assert (summary.steps, summary.images, summary.requests) == (4, 3, 2)
    assert (summary.tokens, summary.seconds, summary.usd) == (1160, 12, 0.5)


def test_an_unknown_price_makes_the_cost_unknown() -> None:
    assert summarize("a", [a_run("a", 1, "passed", None), a_run("a", 2, "passed")]).usd is None


def test_no_runs_have_no_means() -> None:
    summary = summarize("all", [])
    assert (summary.rate.share, summary.steps, summary.usd) == (0.0, 0.0, 0.0)


def test_runs_are_grouped_by_task_and_tag() -> None:
    runs = [a_run("b", 1, "passed"), a_run("a", 1, "failed")]
    assert [one.name for one in by_task(runs)] == ["a", "b"]
    assert [(one.name, one.rate) for one in by_tag(runs)] == [("form", Rate(1, 2))]
