"""What the time of a run was spent on."""

from typing import Any

import pytest

from deskhand.tools.run_pictures.waterfall import KINDS, TimeSpan, Waterfall, waterfall

STAGES = {"queue_ms": 100, "model_ms": 900, "act_ms": 200, "settle_ms": 300, "own_ms": 500}


def step(ended: float, **fields: Any) -> dict[str, Any]:
    """A click that was requested two seconds before its end."""
    usual: dict[str, Any] = {
        "index": 0,
        "id": "s",
        "turn": 1,
        "tool": "computer",
        "action": "left_click",
        "title": "Click",
        "started_at": ended - 1,
        "ended_at": ended,
        "timings": STAGES,
    }
    return usual | fields


def kinds(found: Waterfall) -> list[list[tuple[str, float, float]]]:
    """The spans of each row."""
    return [[(s.kind, round(s.begin, 3), round(s.end, 3)) for s in row.spans] for row in found.rows]


def test_the_stages_of_a_step_follow_each_other() -> None:
    found = waterfall([step(102)])
    assert kinds(found) == [
        [
            *(("queue", 0, 0.1), ("model", 0.1, 1.0), ("action", 1.0, 1.2)),
            *(("settle", 1.2, 1.5), ("own", 1.5, 2.0)),
        ]
    ]
    assert found.seconds == 2
    assert found.totals() == dict.fromkeys(KINDS, 0) | {
        **{"queue": 0.1, "model": 0.9, "action": 0.2, "settle": 0.3, "own": 0.5},
    }


def test_a_step_begins_where_that_before_it_ended() -> None:
    found = waterfall([step(104, index=1), step(102)])
    assert [row.index for row in found.rows] == [0, 1]
    assert found.rows[1].spans[0].begin == 2
    assert found.seconds == 4


def test_what_no_stage_accounts_for_was_a_person() -> None:
    found = waterfall([step(102), step(110, index=1)])
    assert ("person", 3.0, 9.0) in kinds(found)[1]
    # Clocks differ by some milliseconds.
    assert waterfall([step(102), step(104.01)]).totals()["person"] == 0


def test_between_turns_a_run_is_at_rest() -> None:
    found = waterfall([step(102), step(1002, turn=2)])
    assert found.totals()["person"] == 0
    assert found.rows[1].spans[0].begin == 900


def test_calls_that_ran_at_once_share_their_time() -> None:
    found = waterfall([step(102), step(102.5, index=1)])
    assert found.seconds == 2.5
    assert found.rows[1].spent() == pytest.approx(0.5)
    # Of two that ended at the same time the second one has none.
    assert waterfall([step(102), step(102)]).rows[1].spans == ()


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ("execute", "commands"),
        ("wait_agent", "waiting"),
        ("request_human", "person"),
        ("read_file", "action"),
    ],
)
@pytest.mark.parametrize("timings", [{"act_ms": 1000, "own_ms": 0}, {}, None])
def test_the_time_of_a_tool_has_its_kind(
    tool: str, kind: str, timings: dict[str, float] | None
) -> None:
    found = waterfall([step(101, tool=tool, action=None, started_at=100, timings=timings)])
    assert kinds(found) == [[(kind, 0, 1)]]


def test_a_step_that_runs_has_no_row() -> None:
    assert waterfall([step(102, ended_at=None)]) == Waterfall(())
    assert Waterfall(()).seconds == 0


def test_people_in_control_are_rows_and_count_once() -> None:
    asked = step(112, tool="request_human", action=None, started_at=102, timings={})
    control = {"kind": "control", "id": "c", "by": "Ada", "at": 104.0, "ended_at": 110.0}
    message = {"kind": "message", "id": "m", "by": "Ada", "at": 105.0, "ended_at": None}
    found = waterfall([asked], [control, message])
    assert [(row.index, row.title) for row in found.rows] == [(0, "Click"), (None, "Ada")]
    assert found.totals()["person"] == 10
    assert found.rows[1].spans == (TimeSpan("person", 2, 8),)


def test_a_row_is_json() -> None:
    (row,) = waterfall([step(101, started_at=100, timings=None, error="No.", title="")]).rows
    assert row.to_json() == {
        "index": 0,
        "id": "s",
        "title": "left_click",
        "what": "left_click",
        "failed": True,
        "spans": [{"kind": "action", "begin": 0, "end": 1}],
    }
    assert (row.spent("action"), row.spent("model"), row.spent()) == (1, 0, 1)
