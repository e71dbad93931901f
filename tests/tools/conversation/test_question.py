from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.tools.conversation.errors import BadChatRequest, QuestionClosed
from deskhand.tools.conversation.question import (
    ALWAYS,
    APPROVE,
    REFUSE,
    ChatQuestion,
    QuestionState,
    answered,
    expired,
    withdrawn,
)

HUMAN = ChatQuestion("q1", "c1", 1, "s1", "call_1", "human", "Which door?", 10.0)
APPROVAL = replace(HUMAN, kind="approval", text="May it?", deadline=310.0)


def test_a_person_answers_in_any_words() -> None:
    closed = answered(HUMAN, " The left one. ", "owner", 12.0)
    assert (closed.state, closed.answer) == ("answered", "The left one.")
    assert closed.answered_by == "owner"
    assert closed.closed_at == 12.0
    assert not closed.is_open
    assert not closed.approved


@pytest.mark.parametrize(
    ("text", "decision"),
    [("approve", APPROVE), (" Yes. ", APPROVE), ("no", REFUSE), ("Always!", ALWAYS)],
)
def test_an_approval_is_decided(text: str, decision: str) -> None:
    closed = answered(APPROVAL, text, "owner", 12.0)
    assert closed.answer == decision
    assert closed.approved == (decision != REFUSE)


@pytest.mark.parametrize("text", ["", "  ", "perhaps"])
def test_what_decides_nothing_is_refused(text: str) -> None:
    with pytest.raises(BadChatRequest):
        answered(APPROVAL, text, "owner", 12.0)


def test_an_answer_after_the_deadline_comes_too_late() -> None:
    assert not APPROVAL.overdue(309.9)
    assert APPROVAL.overdue(310.0)
    assert not HUMAN.overdue(1e9)
    with pytest.raises(QuestionClosed, match="is expired") as caught:
        answered(APPROVAL, "approve", "owner", 310.0)
    assert caught.value.to_json() == {
        "question": "q1",
        "state": "expired",
        "answer": None,
        "answered_by": None,
        "closed_at": 310.0,
    }
    assert not expired(APPROVAL, 310.0).approved


def test_a_later_answer_gets_the_first() -> None:
    with pytest.raises(QuestionClosed, match="already: refuse") as caught:
        answered(answered(APPROVAL, "refuse", "first", 12.0), "approve", "second", 13.0)
    assert (caught.value.answered_by, caught.value.closed_at) == ("first", 12.0)


EVENTS: list[Callable[[ChatQuestion], ChatQuestion]] = [
    lambda question: answered(question, "approve", "one", 20.0),
    lambda question: answered(question, "refuse", "two", 21.0),
    lambda question: expired(question, 310.0),
    lambda question: withdrawn(question, 22.0),
]


@given(st.lists(st.sampled_from(EVENTS), min_size=1))
def test_the_first_event_closes_it_for_good(
    events: list[Callable[[ChatQuestion], ChatQuestion]],
) -> None:
    first = question = events[0](APPROVAL)
    for event in events[1:]:
        with suppress(QuestionClosed):
            question = event(question)
    assert question == first


def test_its_call_is_run_again_only_if_nothing_was_done_for_it() -> None:
    approved = answered(APPROVAL, "approve", "owner", 12.0)
    assert APPROVAL.may_continue
    assert approved.may_continue
    assert not replace(approved, performed_at=13.0).may_continue
    assert not withdrawn(APPROVAL, 12.0).may_continue


def test_the_chat_shows_what_a_person_must_know() -> None:
    shown = replace(APPROVAL, rules=("command",), call={"tool": "execute"}, picture="f1").to_json()
    assert shown == {
        "id": "q1",
        "kind": "approval",
        "question": "May it?",
        "picture": "f1",
        "call": {"tool": "execute"},
        "rules": ["command"],
        "asked_at": 10.0,
        "deadline": 310.0,
    }
    assert QuestionState("open") is APPROVAL.state
