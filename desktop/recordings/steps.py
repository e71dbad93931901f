"""What is noted in a recording of what was done."""

from deskhand.desktop.accessibility.password_fields import text_length
from deskhand.desktop.actions.catalog import ActionRecord
from deskhand.desktop.lease.lease import ControlSession
from deskhand.recording.step import Step


def step_from_action(record: ActionRecord, hidden: bool = False) -> Step:
    """Return an agent's action as a step, its times on the monotonic clock.

    ``hidden`` if its text went into a password field: then only its length is told.
    """
    text = record.text or ""
    return Step(
        tool_call_id=record.tool_call_id or "",
        chat_id=record.chat_id or "",
        tool="computer",
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


def step_from_control_session(turn: ControlSession, deeds: str) -> Step:
    """Return a person's time in control as a step; ``deeds`` is what may be told of it."""
    return Step(
        tool="human",
        title=f"{turn.name} was in control",
        action="human",
        text=deeds,
        started=turn.started,
        ended=turn.ended,
    )
