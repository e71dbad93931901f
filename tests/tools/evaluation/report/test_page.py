"""The page of a result."""

from dataclasses import replace

from deskhand.tools.evaluation.report.comparison import compare
from deskhand.tools.evaluation.report.page import page
from tests.tools.evaluation.report.given import a_result, a_run


def test_failures_are_shown_with_their_recording() -> None:
    failed = replace(
        a_run("a", 1, "failed", None),
        recording="failures/a-1.mp4",
        picture="failures/a-1.png",
        report="I <did> it.",
        outcome="done",
        ended_by="budget",
    ).with_note("Late.")
    html = page(a_result(failed, a_run("b", 1, "passed")), None, "body {}")
    assert 'poster="failures/a-1.png" src="failures/a-1.mp4"' in html
    assert "&lt;b&gt;a&lt;/b&gt; is wrong" in html
    assert "I &lt;did&gt; it." in html
    assert "ended by budget, the agent reports: done" in html
    assert "<p>Late.</p>" in html
    assert "<b>unknown</b><span>cost</span>" in html
    assert "<h2>Not judged</h2>" not in html
    assert "<script" not in html


def test_a_run_without_a_recording_shows_its_picture_or_nothing() -> None:
    pictured = replace(a_run("a", 1, "error"), picture="failures/a-1.png")
    html = page(a_result(pictured, a_run("a", 2, "error")), None, "")
    assert html.count("<img") == 1
    assert "<h2>Not judged</h2>" in html
    assert "setup: " in html
    only_video = replace(a_run("a", 1, "failed"), recording="failures/a-1.mp4")
    assert "poster" not in page(a_result(only_video), None, "")


def test_the_head_names_settings_mode_and_comparison() -> None:
    result = a_result(replace(a_run("a", 1, "passed"), tags=()))
    html = page(replace(result, mode="oracle", interrupted=True), None, "")
    assert (
        "Oracle scripts: every task must pass. 2 runs of each task. Settings: effort=low." in html
    )
    assert "1970-01-01 00:00 UTC, 60 s. Interrupted: not all runs were made." in html
    assert "<h2>Tags</h2>" not in html
    assert "<b>$0.25</b>" in html
    older = a_result(a_run("a", 1, "failed"), model="old")
    compared = page(replace(result, settings=(), repeat=1), compare(older, result), "")
    assert "<li>a: 0/1 &rarr; 1/1</li>" in compared
    assert "<li>model: old -&gt; model-1</li>" in compared
