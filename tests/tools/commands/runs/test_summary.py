from typing import Any

import pytest

from deskhand.tools.commands.runs.summary import (
    all_rows,
    desktop_row,
    facts,
    live_text,
    run_row,
    state_of,
    step_line,
)

CHAT: dict[str, Any] = {
    "id": "c1",
    "title": "Open the editor",
    "state": "waiting",
    "turn": 1,
    "outcome": "done",
    "model": None,
    "created_at": 40.0,
    "step_count": 3,
}


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({}, "done"),
        ({"outcome": None}, "idle"),
        ({"outcome": None, "turn": 0}, "new"),
        ({"state": "running"}, "running"),
        ({"state": "requires_action"}, "needs you"),
        ({"state": "error"}, "error"),
    ],
)
def test_the_state_of_a_run_at_rest_is_its_outcome(changes: dict[str, Any], state: str) -> None:
    assert state_of({**CHAT, **changes}) == state


def test_rows_have_the_cells_of_their_columns() -> None:
    desktop = {"id": "d1", "status": "ready", "created_at": 90.0, "chat_id": None, "name": ""}
    assert run_row(CHAT, 100.0) == ("c1", "done", "3", "1 min", "-", "Open the editor")
    assert desktop_row(desktop, 100.0) == ("d1", "ready", "10 s", "-", "")
    assert all_rows([desktop], [CHAT], 100.0) == [
        ("run", "c1", "done", "1 min", "-", "Open the editor"),
        ("desktop", "d1", "ready", "10 s", "-", ""),
    ]


def test_facts_that_are_not_known_are_left_out() -> None:
    assert facts(CHAT, 100.0) == [
        "Run:       c1",
        "Title:     Open the editor",
        "State:     done",
        "Steps:     3",
        "Time:      -",
        "Tokens:    0 in, 0 out",
    ]
    asking = {**CHAT, "started_at": 40.0, "requires_action": {"question": "Which\none?"}}
    shown = facts(asking, 100.0)
    assert "Time:      1:00" in shown
    assert "Question:  Which\n           one?" in shown


@pytest.mark.parametrize(
    ("step", "title"),
    [({"title": "Click", "action": "left_click"}, "Click"), ({"action": "key"}, "key")],
)
@pytest.mark.parametrize(("error", "mark"), [(None, "-"), ("refused", "x")])
def test_a_step_is_a_line(step: dict[str, Any], title: str, error: str | None, mark: str) -> None:
    ended = {**step, "index": 0, "error": error, "started_at": 1.0, "ended_at": 1.25}
    assert step_line(ended) == f"  {mark}   1  {title}  (250 ms)"


@pytest.mark.parametrize(
    ("changes", "doing"),
    [
        ({}, "starting"),
        ({"steps": [{"title": "Click"}]}, "Click"),
        ({"steps": [{"tool": "execute"}]}, "execute"),
        ({"steps": [{"title": "Click"}], "waiting_for": {"text": "for a slot"}}, "for a slot"),
    ],
)
def test_the_live_line_has_step_time_tokens_and_activity(
    changes: dict[str, Any], doing: str
) -> None:
    chat = {"usage": {"input_tokens": 1_000, "output_tokens": 500}, **changes}
    steps = len(changes.get("steps", ()))
    assert live_text(chat, 10.0, 77.0) == f"step {steps} · 1:07 · 1.5k tokens · {doing}"
