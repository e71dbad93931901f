from dataclasses import replace

from deskhand.tools.conversation.step_target import StepTarget
from deskhand.tools.conversation.views import MessageView, StepView
from deskhand.tools.playbooks.saving.recorded_run import RecordedStep, recorded_steps

STEP = StepView(
    *("s1", "c", 0, 1, "call-1", "computer", "left_click: 3, 4", "left_click"),
    arguments={"coordinate": [3, 4]},
    status="done",
    error=None,
    started_at=1.0,
    ended_at=2.0,
    timings={},
    details={"changed_fraction": 0.2},
    screenshot_file_id=None,
    video_start=None,
    video_end=None,
)
SAVE = StepTarget("button", "Save", point=(3, 4))


def _message(*blocks: dict[str, str]) -> MessageView:
    return MessageView(1, "c", 1, "assistant", blocks, 1.0)


def test_performed_calls_have_their_targets_and_intents() -> None:
    messages = [
        _message({"type": "text", "text": "Save\nit"}, {"type": "tool_call", "id": "call-1"}),
        _message({"type": "tool_call", "id": "call-2"}),
        _message({"type": "text", "text": "Done"}),
    ]
    tool = replace(STEP, id="s2", index=1, tool_call_id="call-2", tool="execute", action=None)
    tool = replace(tool, arguments={"command": "ls"}, details={"reason": "r" * 300})
    found = recorded_steps([STEP, tool], {"s1": {0: SAVE, 1: SAVE}}, messages)
    assert found == (
        RecordedStep(1, "left_click", {"coordinate": [3, 4]}, True, "Save it", SAVE, SAVE, True),
        RecordedStep(2, "execute", {"command": "ls"}, False, "r" * 200 + "…"),
    )


def test_calls_that_failed_or_were_cut_off_are_left_out() -> None:
    others = [replace(STEP, status="interrupted"), replace(STEP, error="no")]
    assert recorded_steps(others, {}, []) == ()
