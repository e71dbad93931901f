from dataclasses import replace

from deskhand.tools.conversation.step_target import StepTarget
from deskhand.tools.conversation.views import StepView
from deskhand.tools.playbooks.replay.acted_pictures import performed_calls, pictures
from deskhand.tools.playbooks.replay.progress import call_id

CALL = StepView(
    *("s1", "c", 0, 1, call_id(1, "act", "ab", 0), "computer", "left_click: 3, 4", "left_click"),
    arguments={"coordinate": [3, 4]},
    status="done",
    error=None,
    started_at=1.0,
    ended_at=2.0,
    timings={},
    details={},
    screenshot_file_id=None,
    video_start=None,
    video_end=None,
)


def test_the_newest_calls_of_a_step_are_found() -> None:
    others = (
        replace(CALL, tool_call_id=call_id(2, "act", "ab", 0)),
        replace(CALL, tool_call_id=call_id(1, "seek", "ab", 0)),
        replace(CALL, tool_call_id="call-1"),
        replace(CALL, status="failed"),
    )
    newer = replace(CALL, id="s2", turn=2)
    assert performed_calls((CALL, *others), 1) == (CALL,)
    assert performed_calls((CALL, *others, newer), 1) == (newer,)
    assert performed_calls(others, 3) == ()


def test_the_pictures_are_those_of_the_first_call_that_has_any() -> None:
    key = replace(CALL, id="s2")
    targets = {
        "s1": {0: StepTarget("button")},
        "s2": {0: StepTarget("button", patch=b"one"), 1: StepTarget("list", patch=b"two")},
    }
    assert pictures((CALL, key), targets) == {"target": b"one", "to": b"two"}
    assert pictures((CALL,), targets) == {}
    assert pictures((CALL,), {}) == {}
