"""Something that a person did in a run. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

Json = dict[str, Any]

A_PERSON = "A person"
HUMAN = "human"
"""Tool of the recorded steps that are control sessions."""
IN_CONTROL = " was in control"
PRIVATE = ", in private"
"""Endings of the title and the text of such a step."""
_DONE = {"message": "sent a message", "answer": "answered", "stop": "stopped the agent"}


@dataclass(frozen=True)
class Activity:
    """A message, an answer, a stop or a control session; times are unix times in seconds."""

    id: str
    kind: str
    by: str
    """Name of the credential, or of the person in control."""
    text: str
    at: float
    ended_at: float | None = None
    private: bool = False
    video_start: float | None = None
    video_end: float | None = None

    @property
    def words(self) -> str:
        """A sentence without its point, such as ``Ada had control, 22 s, private``."""
        by = self.by or A_PERSON
        if self.kind == "control":
            length = "" if self.ended_at is None else f"{self.ended_at - self.at:.0f} s"
            facts = (f"{by} had control", length, "private" if self.private else "")
            return ", ".join(filter(None, facts))
        return f"{by} {_DONE[self.kind]}{f': {self.text}' if self.text else ''}"

    def to_json(self) -> Json:
        """Return the activity in the form of the HTTP API."""
        return asdict(self)


def control_sessions(recorded: Iterable[Mapping[str, Any]]) -> list[Activity]:
    """Return the control sessions among the steps of a run video."""
    return [
        Activity(
            f"control-{step['index']}",
            "control",
            str(step.get("title") or "").removesuffix(IN_CONTROL) or A_PERSON,
            str(step.get("text") or "").removesuffix(PRIVATE),
            step["started_at"],
            step["ended_at"],
            str(step.get("text") or "").endswith(PRIVATE),
            step["video_start"],
            step["video_end"],
        )
        for step in recorded
        if step.get("tool") == HUMAN
    ]


def in_order(activities: Iterable[Activity]) -> tuple[Activity, ...]:
    """Return activities by their time."""
    return tuple(sorted(activities, key=lambda one: one.at))


def without_texts(activities: Sequence[Activity]) -> tuple[Activity, ...]:
    """Return activities without what belongs to the conversation."""
    return tuple(one if one.kind == "control" else replace(one, text="") for one in activities)
