"""The states of a chat and the transitions between them, as a table.

A chat is *waiting* until a message arrives. The message makes it *queued*; it is *running* once a
desktop and a slot are assigned to its turn. A message for a busy chat goes into the queue of
messages (the backlog), and the next turn begins with it. An interrupted chat is *interrupting*
until its tools have stopped. A question to a person makes it *requires_action* until the answer.
`ChatState.ERROR` keeps the chat usable: the next message starts a new turn.

The table is the only place that decides. `move` is pure; the caller applies the transition to the
database in one transaction. An archived chat accepts only `StateEvent.UNARCHIVE`. When the control
plane ends, `StateEvent.PUT_BACK` makes unfinished turns *queued* again, for its next start, except
those that wait for an answer.
"""

from dataclasses import dataclass
from enum import StrEnum

from .errors import IllegalMove


class ChatState(StrEnum):
    """State of a chat, as stored and published."""

    QUEUED = "queued"
    """A turn is requested and waits for a desktop or a slot."""
    WAITING = "waiting"
    """No turn: the chat waits for the next message."""
    RUNNING = "running"
    INTERRUPTING = "interrupting"
    REQUIRES_ACTION = "requires_action"
    ERROR = "error"


BUSY = (ChatState.QUEUED, ChatState.RUNNING, ChatState.INTERRUPTING)
"""States of an unfinished turn: a caller that waits for the turn waits on."""
UNFINISHED = (*BUSY, ChatState.REQUIRES_ACTION)
"""States of a turn that has not ended, also one that waits for an answer."""


class StateEvent(StrEnum):
    """An event that changes the state of a chat; the value completes the error message."""

    SEND = "send a message to"
    SEND_INTERRUPT = "interrupt with a message"
    ADMIT = "admit"
    INTERRUPT = "interrupt"
    FINISH_INTERRUPTION = "finish the interruption of"
    FINISH_TURN = "finish the turn of"
    FAIL = "fail"
    REQUIRE_ACTION = "ask a person about"
    ANSWER = "answer"
    PUT_BACK = "put back"
    ARCHIVE = "archive"
    UNARCHIVE = "unarchive"
    COMPACT = "compact"
    CLEAR = "clear"


class Delivery(StrEnum):
    """Destination of the message of a transition."""

    NONE = "none"
    APPEND = "append"
    """Append the message to the history."""
    ENQUEUE = "enqueue"
    """Append the message to the queue."""
    PROMOTE = "promote"
    """Move the head of the queue to the end of the history."""
    ENQUEUE_AND_PROMOTE = "enqueue and promote"


@dataclass(frozen=True)
class Situation:
    """A state, whether messages are queued, and whether the chat is archived."""

    state: ChatState
    backlog: bool = False
    archived: bool = False


@dataclass(frozen=True)
class Transition:
    """New state of a chat, and the destination of the message."""

    state: ChatState
    delivery: Delivery = Delivery.NONE
    archived: bool = False


_QUEUED, _WAITING, _RUNNING = ChatState.QUEUED, ChatState.WAITING, ChatState.RUNNING
_INTERRUPTING, _ACTION, _ERROR = ChatState.INTERRUPTING, ChatState.REQUIRES_ACTION, ChatState.ERROR
# A message for an idle chat starts a turn. With a backlog, the message goes to the end of the
# queue, and the head of the queue starts the turn.
_NEW = Transition(_QUEUED, Delivery.APPEND)
_NEW_LAST = Transition(_QUEUED, Delivery.ENQUEUE_AND_PROMOTE)

# The key of a row is (event, state, backlog). Where the backlog makes no difference, both rows are
# generated from one entry below.
TABLE: dict[tuple[StateEvent, ChatState, bool], Transition] = {
    (StateEvent.SEND, _WAITING, False): _NEW,
    (StateEvent.SEND, _WAITING, True): _NEW_LAST,
    (StateEvent.SEND, _ERROR, False): _NEW,
    (StateEvent.SEND, _ERROR, True): _NEW_LAST,
    (StateEvent.SEND_INTERRUPT, _WAITING, False): _NEW,
    (StateEvent.SEND_INTERRUPT, _WAITING, True): _NEW_LAST,
    (StateEvent.SEND_INTERRUPT, _ERROR, False): _NEW,
    (StateEvent.SEND_INTERRUPT, _ERROR, True): _NEW_LAST,
    (StateEvent.FINISH_INTERRUPTION, _INTERRUPTING, False): Transition(_WAITING),
    (StateEvent.FINISH_INTERRUPTION, _INTERRUPTING, True): Transition(_RUNNING, Delivery.PROMOTE),
    (StateEvent.FINISH_TURN, _RUNNING, False): Transition(_WAITING),
    (StateEvent.FINISH_TURN, _RUNNING, True): Transition(_RUNNING, Delivery.PROMOTE),
    # With a backlog it would be open whether the queued messages belong to what is cleared.
    (StateEvent.CLEAR, _WAITING, False): Transition(_WAITING),
    (StateEvent.CLEAR, _ERROR, False): Transition(_WAITING),
    # A message during a turn only waits in the queue: the turn promotes it when it ends.
    **{
        (event, state, backlog): move
        for event, state, move in (
            (StateEvent.SEND, _QUEUED, Transition(_QUEUED, Delivery.ENQUEUE)),
            (StateEvent.SEND, _RUNNING, Transition(_RUNNING, Delivery.ENQUEUE)),
            (StateEvent.SEND, _INTERRUPTING, Transition(_INTERRUPTING, Delivery.ENQUEUE)),
            (StateEvent.SEND, _ACTION, Transition(_ACTION, Delivery.ENQUEUE)),
            (StateEvent.SEND_INTERRUPT, _QUEUED, Transition(_QUEUED, Delivery.ENQUEUE)),
            (StateEvent.SEND_INTERRUPT, _RUNNING, Transition(_INTERRUPTING, Delivery.ENQUEUE)),
            (StateEvent.SEND_INTERRUPT, _INTERRUPTING, Transition(_INTERRUPTING, Delivery.ENQUEUE)),
            # Interrupting a question continues the turn instead of ending it here: the cancelled
            # tool call finds that the question is no longer open.
            (StateEvent.SEND_INTERRUPT, _ACTION, Transition(_RUNNING, Delivery.ENQUEUE)),
            (StateEvent.ADMIT, _QUEUED, Transition(_RUNNING)),
            (StateEvent.INTERRUPT, _QUEUED, Transition(_INTERRUPTING)),
            (StateEvent.INTERRUPT, _RUNNING, Transition(_INTERRUPTING)),
            (StateEvent.INTERRUPT, _ACTION, Transition(_RUNNING)),
            (StateEvent.FAIL, _QUEUED, Transition(_ERROR)),
            (StateEvent.FAIL, _RUNNING, Transition(_ERROR)),
            (StateEvent.REQUIRE_ACTION, _RUNNING, Transition(_ACTION)),
            (StateEvent.ANSWER, _ACTION, Transition(_RUNNING)),
            (StateEvent.PUT_BACK, _QUEUED, Transition(_QUEUED)),
            (StateEvent.PUT_BACK, _RUNNING, Transition(_QUEUED)),
            # Its question stays open.
            (StateEvent.PUT_BACK, _ACTION, Transition(_ACTION)),
            (StateEvent.ARCHIVE, _WAITING, Transition(_WAITING, archived=True)),
            (StateEvent.ARCHIVE, _ERROR, Transition(_ERROR, archived=True)),
            # The checkpoint is the work of a turn, which messages wait for.
            (StateEvent.COMPACT, _WAITING, Transition(_QUEUED)),
            (StateEvent.COMPACT, _ERROR, Transition(_QUEUED)),
        )
        for backlog in (False, True)
    },
}


def move(situation: Situation, event: StateEvent) -> Transition:
    """Return the transition of a chat at ``event``.

    Raises:
        IllegalMove: If the table has no such transition; an archived chat can only be unarchived.
    """
    # Unarchiving keeps every state, so it needs no row for each of them.
    if event is StateEvent.UNARCHIVE and situation.archived:
        return Transition(situation.state)
    found = TABLE.get((event, situation.state, situation.backlog))
    if found is None or situation.archived:
        raise IllegalMove(event.value, "archived" if situation.archived else situation.state.value)
    return found
