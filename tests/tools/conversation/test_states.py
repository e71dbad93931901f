import itertools

import pytest

from deskhand.tools.conversation.errors import IllegalMove
from deskhand.tools.conversation.states import (
    BUSY,
    TABLE,
    ChatState,
    Delivery,
    Situation,
    StateEvent,
    Transition,
    move,
)

REFERENCE = [
    # event, from, backlog, to, where the message goes
    ("SEND", "waiting", False, "queued", "append"),
    ("SEND", "error", False, "queued", "append"),
    ("SEND", "error", True, "queued", "enqueue and promote"),
    ("SEND", "running", False, "running", "enqueue"),
    ("SEND", "running", True, "running", "enqueue"),
    ("SEND", "interrupting", False, "interrupting", "enqueue"),
    ("SEND", "requires_action", True, "requires_action", "enqueue"),
    ("SEND", "queued", False, "queued", "enqueue"),
    ("SEND_INTERRUPT", "running", False, "interrupting", "enqueue"),
    ("SEND_INTERRUPT", "requires_action", False, "running", "enqueue"),
    ("SEND_INTERRUPT", "waiting", False, "queued", "append"),
    ("ADMIT", "queued", False, "running", "none"),
    ("INTERRUPT", "running", True, "interrupting", "none"),
    ("INTERRUPT", "queued", False, "interrupting", "none"),
    ("INTERRUPT", "requires_action", False, "running", "none"),
    ("FINISH_INTERRUPTION", "interrupting", False, "waiting", "none"),
    ("FINISH_INTERRUPTION", "interrupting", True, "running", "promote"),
    ("FINISH_TURN", "running", False, "waiting", "none"),
    ("FINISH_TURN", "running", True, "running", "promote"),
    ("FAIL", "running", True, "error", "none"),
    ("FAIL", "queued", False, "error", "none"),
    ("REQUIRE_ACTION", "running", False, "requires_action", "none"),
    ("ANSWER", "requires_action", False, "running", "none"),
    ("PUT_BACK", "running", False, "queued", "none"),
    ("PUT_BACK", "requires_action", False, "requires_action", "none"),
    ("COMPACT", "waiting", False, "queued", "none"),
    ("COMPACT", "error", True, "queued", "none"),
    ("CLEAR", "waiting", False, "waiting", "none"),
    ("CLEAR", "error", False, "waiting", "none"),
]


@pytest.mark.parametrize(("event", "before", "backlog", "after", "delivery"), REFERENCE)
def test_transitions_are_those_of_the_table(
    event: str, before: str, backlog: bool, after: str, delivery: str
) -> None:
    moved = move(Situation(ChatState(before), backlog), StateEvent[event])
    assert moved == Transition(ChatState(after), Delivery(delivery))


@pytest.mark.parametrize("state", [ChatState.WAITING, ChatState.ERROR])
def test_a_chat_at_rest_can_be_archived_and_taken_back(state: ChatState) -> None:
    assert move(Situation(state), StateEvent.ARCHIVE) == Transition(state, archived=True)
    assert move(Situation(state, archived=True), StateEvent.UNARCHIVE) == Transition(state)


@pytest.mark.parametrize(
    "state", [s for s in ChatState if s not in (ChatState.WAITING, ChatState.ERROR)]
)
def test_a_chat_at_work_cannot_be_archived(state: ChatState) -> None:
    with pytest.raises(IllegalMove) as caught:
        move(Situation(state), StateEvent.ARCHIVE)
    assert str(caught.value) == f"cannot archive a chat that is {state.value}"


@pytest.mark.parametrize("event", [StateEvent.COMPACT, StateEvent.CLEAR])
@pytest.mark.parametrize("state", [s for s in ChatState if s not in ("waiting", "error")])
def test_the_context_of_a_chat_at_work_stays(state: ChatState, event: StateEvent) -> None:
    with pytest.raises(IllegalMove, match=f"cannot {event.value} a chat that is {state.value}"):
        move(Situation(state), event)


def test_a_chat_with_queued_messages_is_not_cleared() -> None:
    with pytest.raises(IllegalMove):
        move(Situation(ChatState.ERROR, backlog=True), StateEvent.CLEAR)


@pytest.mark.parametrize("event", [e for e in StateEvent if e is not StateEvent.UNARCHIVE])
def test_an_archived_chat_accepts_no_other_event(event: StateEvent) -> None:
    with pytest.raises(IllegalMove, match="that is archived"):
        move(Situation(ChatState.WAITING, archived=True), event)


def test_what_is_not_archived_cannot_be_unarchived() -> None:
    with pytest.raises(IllegalMove):
        move(Situation(ChatState.WAITING), StateEvent.UNARCHIVE)


def test_every_pair_is_either_in_the_table_or_refused() -> None:
    for event, state, backlog in itertools.product(StateEvent, ChatState, (False, True)):
        if (event, state, backlog) in TABLE:
            assert move(Situation(state, backlog), event) is TABLE[event, state, backlog]
        else:
            with pytest.raises(IllegalMove):
                move(Situation(state, backlog), event)


def test_only_a_transition_with_a_backlog_promotes_and_no_message_is_lost() -> None:
    for (event, _, backlog), moved in TABLE.items():
        if moved.delivery in (Delivery.PROMOTE, Delivery.ENQUEUE_AND_PROMOTE):
            assert backlog
        if event in (StateEvent.SEND, StateEvent.SEND_INTERRUPT):
            assert moved.delivery not in (Delivery.NONE, Delivery.PROMOTE)
        else:
            assert moved.delivery in (Delivery.NONE, Delivery.PROMOTE)


def test_every_busy_state_can_reach_an_idle_one() -> None:
    resting = {ChatState.WAITING, ChatState.ERROR}
    for state in BUSY:
        reached = {m.state for (_, s, backlog), m in TABLE.items() if s is state and not backlog}
        assert reached & resting
