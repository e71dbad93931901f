from typing import Any

import pytest

from deskhand.tools.run_pictures.report import report_html

TIMES = {"model_ms": 750, "act_ms": 250, "settle_ms": None, "own_ms": 0}
CHAT: dict[str, Any] = {
    "title": "Fill <the> form",
    "state": "waiting",
    "outcome": "done",
    "model": "m",
    "report": "It is <b>done</b>.",
    "started_at": 1_000_000_000.0,
    "ended_at": 1_000_000_012.0,
    "step_count": 2,
    "times": TIMES,
    "steps": [
        {
            **{"index": 0, "id": "s", "title": "Click <OK>", "tool_call_id": "a", "turn": 1},
            **{"timings": TIMES, "started_at": 1_000_000_000.75, "ended_at": 1_000_000_001.0},
        },
        {"index": 1, "action": "key", "error": "No <such> key.", "tool_call_id": "b"},
    ],
}


def test_a_report_has_what_was_asked_done_and_reported() -> None:
    found = report_html(CHAT, {"a": b"jpeg"}, task="Do <it>")
    for text in (
        "<h1>Fill &lt;the&gt; form</h1>",
        "<dt>Outcome</dt><dd>done</dd>",
        "<dd>2001-09-09 01:46 UTC</dd>",
        "<dt>Duration</dt><dd>12 s</dd>",
        "<pre>Do &lt;it&gt;</pre>",
        "<pre>It is &lt;b&gt;done&lt;/b&gt;.</pre>",
        "<b>1</b> Click &lt;OK&gt; <small>1.0 s</small>",
        'src="data:image/jpeg;base64,anBlZw=="',
        "<p>No &lt;such&gt; key.</p>",
        "model 0.8 s",
        "width:75.00%",
        '<svg class="waterfall"',
    ):
        assert text in found, text


def test_a_report_needs_neither_script_nor_network() -> None:
    found = report_html(CHAT, {}, task="").lower()
    for text in ("<script", "http:", "https:", "<link", "url(", "onload"):
        assert text not in found


def test_readers_without_the_conversation_see_no_task() -> None:
    assert "<h2>Task</h2>" not in report_html(CHAT, {}, task="")


@pytest.mark.parametrize("state", ["running", None])
def test_a_run_that_has_not_ended_has_few_facts(state: str | None) -> None:
    found = report_html({"state": state}, {}, task="")
    assert ("<dd>running</dd>" in found) is (state == "running")
    assert "<h1>Run</h1>" in found
    assert "<h2>Report</h2>" not in found
    assert "<h2>Time</h2>" not in found
    assert 'class="bar"' not in found


def test_a_step_that_took_no_time_has_no_bar() -> None:
    found = report_html({"steps": [{"index": 0, "tool": "wait"}]}, {}, task="")
    assert "<b>1</b> wait <small>0.0 s</small>" in found
    assert '<div class="bar">' not in found


def test_what_people_did_is_between_the_steps() -> None:
    control = {"kind": "control", "id": "c", "by": "Ada <a>", "at": 5.0, "ended_at": 27.0}
    message = {"kind": "message", "id": "m", "by": "Bob", "at": 2.0, "text": "Go <on>"}
    steps = [{"index": 0, "tool": "key", "started_at": 3.0}]
    found = report_html(
        {"steps": steps}, {}, task="", people=[control | {"private": True}, message]
    )
    said = "<b>Bob</b> sent a message<p>Go &lt;on&gt;</p>"
    had = "<b>Ada &lt;a&gt;</b> had control <small>22 s</small> <small>private</small>"
    assert found.index(said) < found.index("<b>1</b> key") < found.index(had)


def test_a_report_may_have_the_run_video() -> None:
    found = report_html(CHAT, {}, task="", videos=[b"mp4"])
    assert 'src="data:video/mp4;base64,bXA0"' in found
    without = report_html(CHAT, {}, task="", video_words="It is <large>.")
    assert "It is &lt;large&gt;." in without
    assert "<video" not in without
    assert "Run video" not in report_html(CHAT, {}, task="")


def test_a_report_of_three_hundred_steps_is_small() -> None:
    # A crop of 320x180 with much detail has about 10 kB.
    steps = [CHAT["steps"][0] | {"index": n, "tool_call_id": str(n)} for n in range(300)]
    pictures = {str(n): bytes(10_000) for n in range(300)}
    found = report_html(CHAT | {"steps": steps}, pictures, task="Do it")
    assert len(found.encode()) <= 5_000_000
