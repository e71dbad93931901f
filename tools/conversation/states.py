"""The states of a chat and the moves between them, as a table."""

from dataclasses import dataclass
from enum import StrEnum

from .errors import IllegalMove


class ChatState(StrEnum):
    """What a chat is doing."""

    QUEUED = "queued"
    """Its turn has been asked for and waits for a desktop or a place."""
    WAITING = "waiting"
    """At rest: for the next message."""
    RUNNING = "running"
    INTERRUPTING = "interrupting"
    REQUIRES_ACTION = "requires_action"
    ERROR = "error"


BUSY = (ChatState.QUEUED, ChatState.RUNNING, ChatState.INTERRUPTING)
"""A wait goes on while the chat is in one of these."""


class StateEvent(StrEnum):
    """What happens to a chat."""

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
    RECONCILE = "reconcile"


class Delivery(StrEnum):
    """Where the message of a move goes."""

    NONE = "none"
    APPEND = "append"
    """To the end of the history."""
    ENQUEUE = "enqueue"
    """To the end of the queue."""
    PROMOTE = "promote"
    """The head of the queue to the end of the history."""
    ENQUEUE_AND_PROMOTE = "enqueue and promote"


@dataclass(frozen=True)
class Situation:
    """A state, whether messages are queued, and whether the chat is archived."""

    state: ChatState
    backlog: bool = False
    archived: bool = False


@dataclass(frozen=True)
class Transition:
    """What a move leads to."""

    state: ChatState
    delivery: Delivery = Delivery.NONE
    archived: bool = False


_QUEUED, _WAITING, _RUNNING = ChatState.QUEUED, ChatState.WAITING, ChatState.RUNNING
_INTERRUPTING, _ACTION, _ERROR = ChatState.INTERRUPTING, ChatState.REQUIRES_ACTION, ChatState.ERROR
_NEW = Transition(_QUEUED, Delivery.APPEND)
_NEW_LAST = Transition(_QUEUED, Delivery.ENQUEUE_AND_PROMOTE)

# A row is (event, state, backlog); where the queue makes no difference both rows are alike.
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
            (StateEvent.ARCHIVE, _WAITING, Transition(_WAITING, archived=True)),
            (StateEvent.ARCHIVE, _ERROR, Transition(_ERROR, archived=True)),
            *((StateEvent.RECONCILE, state, Transition(_ERROR)) for state in ChatState),
        )
        for backlog in (False, True)
    },
}


def move(situation: Situation, event: StateEvent) -> Transition:
    """Return what ``event`` makes of a chat.

    Raises:
        IllegalMove: If the table has no such move; an archived chat can only be unarchived.
    """
    if event is StateEvent.UNARCHIVE and situation.archived:
        return Transition(situation.state)
    found = TABLE.get((event, situation.state, situation.backlog))
    if found is None or situation.archived:
        raise IllegalMove(event.value, "archived" if situation.archived else situation.state.value)
    return found
