"""Questions of chats to people: one state machine for requests and approvals. Pure.

    open ──answer──────────────> answered
     ├──── deadline ───────────> expired     an expired approval counts as refused
     └──── turn or chat ends ──> withdrawn

The first event closes a question for good: a later answer raises :class:`QuestionClosed`, which
carries the first. A chat has at most one open question, and only while it is *requires_action*.

A question belongs to one step, the record of the call that asks. After a restart the call is run
again: it finds its question, and waits on or takes the answer. `performed_at` is written before an
approved call has any effect, so that a call is never performed twice.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal

from .errors import BadChatRequest, QuestionClosed

Json = dict[str, Any]

QuestionKind = Literal["human", "approval"]
"""``human`` takes any text as its answer, ``approval`` one of `DECISIONS`."""

APPROVE, REFUSE, ALWAYS = "approve", "refuse", "always"
DECISIONS = (APPROVE, REFUSE, ALWAYS)
"""Answers to an approval; ``always`` also approves what the same rules find later in the chat."""

_SYNONYMS = {
    **dict.fromkeys(("approve", "approved", "yes", "y", "ok", "ja"), APPROVE),
    **dict.fromkeys(("refuse", "refused", "no", "n", "nein", "deny"), REFUSE),
    **dict.fromkeys(("always", "a"), ALWAYS),
}


class QuestionState(StrEnum):
    """State of a question, as stored."""

    OPEN = "open"
    ANSWERED = "answered"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True)
class ChatQuestion:
    """One question, with its answer if it has one. Times are unix times in seconds."""

    id: str
    chat_id: str
    turn: int
    step_id: str
    """The step of the call that asks."""
    call_id: str
    kind: QuestionKind
    text: str
    asked_at: float
    deadline: float | None = None
    """Time at which it expires; None for a question that waits without a limit."""
    picture: str | None = None
    """File id of the screen at that moment."""
    call: Json | None = None
    """The call to approve: ``tool``, ``title`` and ``arguments``, without values of secrets."""
    rules: tuple[str, ...] = ()
    """Rules that require the approval."""
    state: QuestionState = QuestionState.OPEN
    answer: str | None = None
    answered_by: str | None = None
    closed_at: float | None = None
    performed_at: float | None = None
    """Time at which the approved call began."""

    @property
    def is_open(self) -> bool:
        """True until an answer, the deadline or the end of its turn."""
        return self.state is QuestionState.OPEN

    @property
    def approved(self) -> bool:
        """True if a person has approved the call."""
        return self.state is QuestionState.ANSWERED and self.answer in (APPROVE, ALWAYS)

    @property
    def may_continue(self) -> bool:
        """True if its call can be run again after a restart, as nothing was done for it yet."""
        return self.state is not QuestionState.WITHDRAWN and self.performed_at is None

    def overdue(self, now: float) -> bool:
        """Return whether an open question must expire."""
        return self.is_open and self.deadline is not None and now >= self.deadline

    def to_json(self) -> Json:
        """Return the question as ``requires_action`` of its chat."""
        return {
            "id": self.id,
            "kind": self.kind,
            "question": self.text,
            "picture": self.picture,
            "call": self.call,
            "rules": list(self.rules),
            "asked_at": self.asked_at,
            "deadline": self.deadline,
        }


def answered(question: ChatQuestion, text: str, by: str, now: float) -> ChatQuestion:
    """Return a question with its answer; the first answer counts.

    Raises:
        QuestionClosed: If it is not open any more, or its deadline has passed.
        BadChatRequest: If the answer is blank, or does not decide on an approval.
    """
    given = text.strip()
    if not given:
        raise BadChatRequest("answer is required")
    if question.kind == "approval":
        decision = _SYNONYMS.get(given.rstrip(".!").lower())
        if decision is None:
            raise BadChatRequest(f"answer must be one of {', '.join(DECISIONS)}")
        given = decision
    current = expired(question, now) if question.overdue(now) else question
    if not current.is_open:
        raise QuestionClosed(
            current.id, current.state.value, current.answer, current.answered_by, current.closed_at
        )
    return replace(
        question, state=QuestionState.ANSWERED, answer=given, answered_by=by, closed_at=now
    )


def expired(question: ChatQuestion, now: float) -> ChatQuestion:
    """Return a question whose deadline has passed; one that is closed stays as it is."""
    if not question.is_open:
        return question
    return replace(question, state=QuestionState.EXPIRED, closed_at=now)


def withdrawn(question: ChatQuestion, now: float) -> ChatQuestion:
    """Return a question whose turn or chat has ended; one that is closed stays as it is."""
    if not question.is_open:
        return question
    return replace(question, state=QuestionState.WITHDRAWN, closed_at=now)
