"""Steps of a recording from actions of agents and control sessions of people."""

from deskhand.desktop.accessibility.password_fields import text_length
from deskhand.desktop.actions.catalog import ActionRecord
from deskhand.desktop.lease.lease import ControlSession
from deskhand.recording.step import Step


def step_from_action(record: ActionRecord, hidden: bool = False) -> Step:
    """Return an agent's action as a step, its times on the monotonic clock.

    ``hidden``: the text went into a password field, so the step contains only its length.
    """
    text = record.text or ""
    return Step(
        tool_call_id=record.tool_call_id or "",
        chat_id=record.chat_id or "",
        tool=record.tool,
        action=record.action,
        text=text_length(record.action, text) if hidden else text,
        model_point=record.model_point,
        native_point=record.native_point,
        started=record.started,
        ended=record.ended,
        changed_fraction=record.changed_fraction,
        error=record.error,
        frame_before=record.frames[0],
        frame_after=record.frames[1],
    )


def step_from_control_session(session: ControlSession, activity: str) -> Step:
    """Return a control session of a person as a step; ``activity`` summarizes the input.

    The control plane reads name, input and privacy from the title and the text.
    """
    return Step(
        tool="human",
        title=f"{session.name} was in control",
        action="human",
        text=f"{activity}, in private" if session.private else activity,
        started=session.started,
        ended=session.ended,
    )
