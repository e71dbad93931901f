import pytest

from deskhand.desktop.actions.catalog import ActionRecord
from deskhand.desktop.geometry import Point
from deskhand.desktop.lease.lease import ControlSession
from deskhand.desktop.recordings.steps import step_from_action, step_from_control_session


def acted(**different: object) -> ActionRecord:
    values: dict[str, object] = {
        "tool_call_id": "call",
        "chat_id": "chat",
        "action": "left_click",
        "model_point": Point(10, 20),
        "native_point": Point(15, 30),
        "text": None,
        "started": 1.0,
        "ended": 2.5,
        "changed_fraction": 0.25,
        "error": None,
        "timings": {},
    }
    return ActionRecord(**values | different)  # type: ignore[arg-type]


def test_an_action_is_a_step_of_the_computer_with_both_its_points_and_times() -> None:
    step = step_from_action(acted())
    assert (step.tool, step.action, step.text) == ("computer", "left_click", "")
    assert (step.tool_call_id, step.chat_id) == ("call", "chat")
    assert (step.model_point, step.native_point) == ((10, 20), (15, 30))
    assert (step.started, step.ended, step.changed_fraction) == (1.0, 2.5, 0.25)


def test_what_was_typed_and_what_failed_are_kept() -> None:
    step = step_from_action(acted(text="hello", error="The display is gone."))
    assert (step.text, step.error) == ("hello", "The display is gone.")


def test_the_frames_that_were_seen_are_named() -> None:
    step = step_from_action(acted(frames=("boot-1", "boot-2")))
    assert (step.frame_before, step.frame_after) == ("boot-1", "boot-2")
    assert step_from_action(acted()).frame_before == ""


@pytest.mark.parametrize("nobody", ["", None])
def test_an_action_of_nobody_is_a_step_of_nobody(nobody: str | None) -> None:
    step = step_from_action(acted(tool_call_id=nobody, chat_id=nobody))
    assert (step.tool_call_id, step.chat_id) == ("", "")


def test_a_persons_turn_is_a_step_that_names_them_and_says_no_more_than_it_may() -> None:
    turn = ControlSession("Ada", 3.0, 9.0, 12, 2, True, "released")
    step = step_from_control_session(turn, "12 keys and 2 clicks")
    assert (step.tool, step.action) == ("human", "human")
    assert (step.title, step.text) == ("Ada was in control", "12 keys and 2 clicks")
    assert (step.started, step.ended) == (3.0, 9.0)
