"""Comparison of two results."""

from dataclasses import replace

import pytest

from deskhand.tools.evaluation.report.comparison import compare, difference_interval
from deskhand.tools.evaluation.report.statistics import Rate
from tests.tools.evaluation.report.given import a_result, a_run


def test_only_tasks_of_both_results_are_compared() -> None:
    old = a_result(a_run("a", 1, "failed"), a_run("gone", 1, "passed"))
    new = a_result(a_run("a", 1, "passed"), a_run("fresh", 1, "failed"))
    found = compare(old, new)
    assert (found.old.rate, found.new.rate) == (Rate(0, 1), Rate(1, 1))
    assert (found.only_old, found.only_new) == (("gone",), ("fresh",))
    assert [(task.name, task.old, task.new) for task in found.changed] == [
        ("a", Rate(0, 1), Rate(1, 1))
    ]
    assert found.difference == 1.0


def test_a_large_difference_is_judged() -> None:
    none = a_result(*(a_run("a", number, "failed") for number in range(20)))
    all_ = a_result(*(a_run("a", number, "passed") for number in range(20)))
    assert compare(none, all_).judgement == "better"
    assert compare(all_, none).judgement == "worse"


def test_a_small_difference_shows_nothing() -> None:
    old = a_result(a_run("a", 1, "failed"), a_run("a", 2, "passed"))
    new = a_result(a_run("a", 1, "passed"), a_run("a", 2, "passed"))
    assert compare(old, new).judgement == "no difference shown"
    assert compare(old, old).changed == ()


def test_newcombes_interval() -> None:
    # Newcombe (1998), table II, row a: 56/70 against 48/80.
    low, high = difference_interval(Rate(48, 80), Rate(56, 70))
    assert (low, high) == pytest.approx((0.0524, 0.3339), abs=1e-4)


def test_what_else_differs_is_named() -> None:
    old = a_result(model="one")
    new = replace(a_result(model="two"), settings=(("approval", "risky"), ("effort", "high")))
    assert compare(old, new).changes == (
        "model: one -> two",
        "approval: default -> risky",
        "effort: low -> high",
    )
