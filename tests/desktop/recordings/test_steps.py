import pytest

from deskhand.desktop.actions.catalog import ActionRecord
from deskhand.desktop.geometry import Point
from deskhand.desktop.lease.lease import ControlSession
from deskhand.desktop.recordings.steps import step_from_action, step_from_control_session


def record(**different: object) -> ActionRecord:
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
    step = step_from_action(record())
    assert (step.tool, step.action, step.text) == ("computer", "left_click", "")
    assert (step.tool_call_id, step.chat_id) == ("call", "chat")
    assert (step.model_point, step.native_point) == ((10, 20), (15, 30))
    assert (step.started, step.ended, step.changed_fraction) == (1.0, 2.5, 0.25)


def test_typed_text_and_errors_are_kept() -> None:
    step = step_from_action(record(text="hello", error="The display is gone."))
    assert (step.text, step.error) == ("hello", "The display is gone.")


def test_a_step_has_the_ids_of_both_frames() -> None:
    step = step_from_action(record(frames=("boot-1", "boot-2")))
    assert (step.frame_before, step.frame_after) == ("boot-1", "boot-2")
    assert step_from_action(record()).frame_before == ""


@pytest.mark.parametrize("missing", ["", None])
def test_an_action_without_ids_is_a_step_without_ids(missing: str | None) -> None:
    step = step_from_action(record(tool_call_id=missing, chat_id=missing))
    assert (step.tool_call_id, step.chat_id) == ("", "")


def test_a_control_session_is_a_step_with_the_name_and_a_summary() -> None:
    session = ControlSession("Ada", 3.0, 9.0, 12, 2, True, "released")
    step = step_from_control_session(session, "12 keys and 2 clicks")
    assert (step.tool, step.action) == ("human", "human")
    assert (step.title, step.text) == ("Ada was in control", "12 keys and 2 clicks, in private")
    assert (step.started, step.ended) == (3.0, 9.0)
