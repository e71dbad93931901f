"""Reasons for which a chat at work waits, and which of several is reported."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

WaitKind = Literal["database", "human_in_control", "question"]
TEXTS: dict[WaitKind, str] = {
    "database": "waiting for the database",
    "human_in_control": "waiting while a person is in control",
    "question": "waiting for an answer",
}
"""Text of each kind. The first kind is the most urgent: it needs attention before the others."""


@dataclass(frozen=True)
class WaitingFor:
    """One reason to wait, and the Unix time at which the wait began."""

    kind: WaitKind
    text: str
    since: float


def waiting_for(kind: WaitKind, since: float) -> WaitingFor:
    """Return the wait of a kind with its text."""
    return WaitingFor(kind, TEXTS[kind], since)


def stored_wait(person_since: float | None, asked_at: float | None) -> WaitingFor | None:
    """Return the wait that the rows of a chat show, with the times at which they began."""
    begun: list[tuple[WaitKind, float | None]] = [
        ("human_in_control", person_since),
        ("question", asked_at),
    ]
    return most_urgent(waiting_for(kind, since) for kind, since in begun if since is not None)


def most_urgent(waits: Iterable[WaitingFor]) -> WaitingFor | None:
    """Return the wait to report, of one kind the oldest, or ``None`` if there is none."""
    order = list(TEXTS)
    return min(waits, key=lambda wait: (order.index(wait.kind), wait.since), default=None)
