from dataclasses import replace

import pytest

from deskhand.tools.conversation.step_hash import last_step_hash
from deskhand.tools.conversation.views import StepView

STEP = StepView(
    id="s0",
    chat_id="c",
    index=0,
    turn=1,
    tool_call_id="call",
    tool="execute",
    title="execute: ls",
    action=None,
    arguments={"command": "ls"},
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
STEPS = [replace(STEP, id=f"s{n}", index=n, title=f"step {n}") for n in range(3)]


def test_the_hash_covers_all_steps_in_their_order() -> None:
    known = last_step_hash(STEPS, 9.0)
    assert len(known) == 64
    assert last_step_hash(STEPS, 9.0) == known
    assert last_step_hash(STEPS[::-1], 9.0) != known
    assert last_step_hash(STEPS[1:], 9.0) != known
    assert last_step_hash([], 9.0) == ""


@pytest.mark.parametrize(
    "change", [{"title": "x"}, {"arguments": {}}, {"status": "failed"}, {"error": "x"}]
)
def test_a_changed_step_gives_another_hash(change: dict[str, object]) -> None:
    changed = [replace(STEPS[0], **change), *STEPS[1:]]  # type: ignore[arg-type]
    assert last_step_hash(changed, 9.0) != last_step_hash(STEPS, 9.0)


def test_what_is_set_after_the_turn_does_not_count() -> None:
    later = replace(STEP, id="later", ended_at=10.0)
    running = replace(STEP, id="running", ended_at=None)
    placed = [replace(one, video_start=1.0, screenshot_file_id="f") for one in STEPS]
    assert last_step_hash([*placed, later, running], 9.0) == last_step_hash(STEPS, 9.0)
