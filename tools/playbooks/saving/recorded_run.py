"""A finished run, as far as a playbook is made of it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.tools.conversation.step_target import StepTarget
from deskhand.tools.conversation.views import MessageView, StepView

Json = dict[str, Any]

LONGEST_INTENT = 200


@dataclass(frozen=True)
class RecordedStep:
    """One call of the run that was performed."""

    number: int
    """Its number for people, from 1."""
    name: str
    """Action of the computer, or the tool."""
    arguments: Json
    computer: bool
    intent: str = ""
    target: StepTarget | None = None
    to: StepTarget | None = None
    changed: bool = False
    """True if the screen changed."""


@dataclass(frozen=True)
class RunEnd:
    """What a desktop has at the end of a run; nothing if it is gone."""

    texts: tuple[str, ...] = ()
    """On the screen."""
    downloads: tuple[str, ...] = ()
    """Names of the files in the folder of downloads."""
    picture: tuple[int, int, bytes] | None = None
    """Width, height and RGB bytes of the screen."""


@dataclass(frozen=True)
class RecordedRun:
    """A finished run."""

    steps: tuple[RecordedStep, ...]
    report: str = ""
    end: RunEnd = RunEnd()


def recorded_steps(
    steps: Sequence[StepView],
    targets: Mapping[str, Mapping[int, StepTarget]],
    messages: Sequence[MessageView],
) -> tuple[RecordedStep, ...]:
    """Return the performed calls of one turn, with what the model wrote before each."""
    intents = _intents(messages)
    return tuple(
        RecordedStep(
            step.index + 1,
            step.action or step.tool,
            step.arguments,
            step.action is not None,
            _short(str(step.details.get("reason") or intents.get(step.tool_call_id, ""))),
            targets.get(step.id, {}).get(0),
            targets.get(step.id, {}).get(1),
            bool(step.details.get("changed_fraction")),
        )
        for step in steps
        if step.status == "done" and step.error is None
    )


def _intents(messages: Sequence[MessageView]) -> dict[str, str]:
    """Return the text before the first call of each reply, by the id of the call."""
    found: dict[str, str] = {}
    for message in messages:
        calls = [one["id"] for one in message.content if one.get("type") == "tool_call"]
        texts = [one["text"] for one in message.content if one.get("type") == "text"]
        if calls and texts:
            found[calls[0]] = " ".join(texts)
    return found


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_INTENT else f"{line[:LONGEST_INTENT]}…"
