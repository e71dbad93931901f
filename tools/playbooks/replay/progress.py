"""Progress of a replay, read from the messages of its chat.

The messages are the only memory of a replay, as they are of any agent: a control plane that was
killed goes on from them. Each call of a replay has an id that names its step. A step counts as
performed when all its calls have results without an error. A call whose result never came may have
had its effect, so the replay ends there: nothing is performed twice.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from deskhand.tools.conversation.conversation import Message, Text, ToolCall, ToolResult

Purpose = Literal["act", "seek", "pause", "look"]
"""``seek`` scrolls in search of a target, ``pause`` waits for a person's control to end, ``look``
takes the picture for a model that heals."""

START = -1
"""Number of the start of a playbook; its steps count from 0."""
UNKNOWN_EFFECT = "may or may not have taken effect"
REJECTED_SCREEN = "Not done:"
"""Beginning of the result of a call that was not sent because a person used the screen."""

_ID = re.compile(
    r"(?:replay|healed)-(?P<step>-?\d+)-(?P<purpose>act|seek|pause|look)-[0-9a-z]+-\d+"
)


@dataclass(frozen=True)
class StepFailure:
    """The first error among the calls of a step."""

    step: int
    text: str
    unknown: bool = False
    """True if the call may have taken effect."""
    not_sent: bool = False
    """True if the call was held back because a person used the screen."""


@dataclass(frozen=True)
class ReplayProgress:
    """How far a replay has come."""

    done: int | None = None
    """Number of the last step that was performed; ``None`` if there is none."""
    failure: StepFailure | None = None
    """The failure of the newest calls."""
    attempts: int = 0
    """Attempts at the step after ``done`` that a person's control prevented."""
    looked: bool = False
    """True if the newest calls took the picture for a model that heals the step after ``done``."""
    seeks: tuple[str, ...] = ()
    """Results of the scrolling in search of the target of the step after ``done``."""


def call_id(step: int, purpose: Purpose, token: str, part: int, *, healed: bool = False) -> str:
    """Return the id of a call; ``token`` differs for each reply.

    What ``healed`` calls are aimed at is recorded; of all others it is in the playbook.
    """
    return f"{'healed' if healed else 'replay'}-{step}-{purpose}-{token}-{part}"


def step_of(call: str) -> int | None:
    """Return the number of the step that the call of an id performs; ``None`` for other calls."""
    mark = _ID.fullmatch(call)
    return int(mark["step"]) if mark and mark["purpose"] == "act" else None


def progress_of(messages: Sequence[Message]) -> ReplayProgress:
    """Return the progress that the messages record."""
    results = {
        block.call_id: block
        for message in messages
        for block in message.content
        if isinstance(block, ToolResult)
    }
    progress = ReplayProgress()
    for message in messages:
        calls = [block for block in message.content if isinstance(block, ToolCall)]
        marks = [mark for call in calls if (mark := _ID.fullmatch(call.id))]
        if not marks or len(marks) != len(calls):
            continue
        step, purpose = int(marks[0]["step"]), marks[0]["purpose"]
        answers = [results.get(call.id) for call in calls]
        failure = _failure(step, calls, answers)
        if purpose == "seek":
            seeks = (*progress.seeks, _text(answers[-1]))
            progress = ReplayProgress(progress.done, None, progress.attempts, seeks=seeks)
        elif purpose == "look":
            progress = replace(progress, looked=True)
        elif purpose == "act" and failure is None:
            progress = ReplayProgress(step)
        elif purpose == "act":
            attempts = progress.attempts + 1
            progress = ReplayProgress(progress.done, failure, attempts, seeks=progress.seeks)
    return progress


def _failure(
    step: int, calls: Sequence[ToolCall], answers: Sequence[ToolResult | None]
) -> StepFailure | None:
    for number, (call, answer) in enumerate(zip(calls, answers, strict=True)):
        if answer is None:
            return StepFailure(step, f"{call.name} has no result", unknown=True)
        text = _text(answer)
        if answer.is_error:
            unknown = UNKNOWN_EFFECT in text
            # After another call of the step was performed, the step cannot be done as a whole.
            not_sent = text.startswith(REJECTED_SCREEN) and number == 0
            return StepFailure(step, text, unknown, not_sent)
        if call.name == "execute" and (problem := _command_failure(text)):
            return StepFailure(step, problem)
    return None


def _command_failure(text: str) -> str:
    """Return why a command failed, empty if it did not or goes on in the background."""
    try:
        value = json.loads(text)
    except ValueError:
        return ""
    if not isinstance(value, dict):
        return ""
    if value.get("error"):
        return str(value["error"])
    code = value.get("exit_code")
    if not code:
        return ""
    output = str(value.get("output", "")).strip()[-500:]
    return f"the command ended with the exit code {code}" + (f": {output}" if output else "")


def _text(result: ToolResult | None) -> str:
    content = () if result is None else result.content
    return " ".join(block.text for block in content if isinstance(block, Text))
