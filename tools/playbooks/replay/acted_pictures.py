"""The pictures of the targets of a replay's steps, which its calls have recorded. Pure."""

from collections.abc import Mapping, Sequence

from deskhand.tools.conversation.step_target import StepTarget
from deskhand.tools.conversation.views import StepView

from .healing import Part
from .progress import step_of

PARTS: tuple[Part, ...] = ("target", "to")
"""The targets of an action, in the order in which they are recorded."""


def performed_calls(steps: Sequence[StepView], number: int) -> tuple[StepView, ...]:
    """Return the newest calls that performed a step of the playbook, counted from 0."""
    calls = [one for one in steps if step_of(one.tool_call_id) == number]
    newest = max((one.turn for one in calls), default=0)
    return tuple(one for one in calls if one.turn == newest and one.status == "done")


def pictures(
    calls: Sequence[StepView], targets: Mapping[str, Mapping[int, StepTarget]]
) -> dict[Part, bytes]:
    """Return the pictures around what the first call with a target was aimed at."""
    for call in calls:
        found = targets.get(call.id, {})
        kept = {
            part: picture
            for position, part in enumerate(PARTS)
            if position in found and (picture := found[position].patch)
        }
        if kept:
            return kept
    return {}
