"""The report for a terminal."""

from dataclasses import replace

from deskhand.tools.evaluation.report.comparison import compare
from deskhand.tools.evaluation.report.text import comparison_lines, one_line, report_lines, run_line
from tests.tools.evaluation.report.given import a_result, a_run


def test_a_run_is_one_line() -> None:
    assert run_line(a_run("a", 1, "passed")) == "  ok   a 1  (4 steps, 12 s)"
    failed = a_run("a", 2, "failed").with_note("No\nvideo.")
    assert run_line(failed) == "  FAIL a 2  (4 steps, 12 s)  <b>a</b> is wrong  No video."
    assert "ERR  a 3  (4 steps, 12 s)  setup: <b>a</b>" in run_line(a_run("a", 3, "error"))


def test_long_texts_are_cut() -> None:
    assert len(one_line("word " * 100)) == 200
    assert one_line("a\n b") == "a b"


def test_the_report_has_tasks_tags_and_the_rate() -> None:
    result = a_result(
        a_run("a", 1, "passed"), a_run("a", 2, "error"), a_run("b", 1, "failed", None)
    )
    text = "\n".join(report_lines(replace(result, interrupted=True)))
    assert "a     1/1 +1 errors  21-100" in text
    assert "form" in text
    assert "Success rate: 50 % (1 of 2), 95 % interval 9 % to 91 %" in text
    assert "Not judged: 1" in text
    assert "Interrupted: not all runs were made" in text
    untagged = a_result(replace(a_run("a", 1, "passed"), tags=()))
    assert "form" not in "\n".join(report_lines(untagged))


def test_a_comparison_names_what_changed() -> None:
    old = a_result(a_run("a", 1, "failed"), a_run("gone", 1, "passed"), model="one")
    new = a_result(a_run("a", 1, "passed"), model="two")
    text = "\n".join(comparison_lines(compare(old, new)))
    assert "  model: one -> two" in text
    assert "Difference: +100 points, 95 % interval -12 to +100: no difference shown" in text
    assert "  a: 0/1 -> 1/1" in text
    assert "Only in the older result: gone" in text
    assert "newer result:" not in text
