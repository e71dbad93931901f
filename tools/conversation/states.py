"""The states of a chat and the moves between them, as a table."""

from dataclasses import dataclass
from enum import StrEnum

from .errors import IllegalMove


class State(StrEnum):
    """What a chat is doing."""

    QUEUED = "queued"
    """Its turn has been asked for and waits for a desktop or a place."""
    WAITING = "waiting"
    """At rest: for the next message."""
    RUNNING = "running"
    INTERRUPTING = "interrupting"
    REQUIRES_ACTION = "requires_action"
    ERROR = "error"


BUSY = (State.QUEUED, State.RUNNING, State.INTERRUPTING)
"""A wait goes on while the chat is in one of these."""


class Event(StrEnum):
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

    state: State
    backlog: bool = False
    archived: bool = False


@dataclass(frozen=True)
class Move:
    """What a move leads to."""

    state: State
    delivery: Delivery = Delivery.NONE
    archived: bool = False


_QUEUED, _WAITING, _RUNNING = State.QUEUED, State.WAITING, State.RUNNING
_INTERRUPTING, _ACTION, _ERROR = State.INTERRUPTING, State.REQUIRES_ACTION, State.ERROR
_NEW = Move(_QUEUED, Delivery.APPEND)
_NEW_LAST = Move(_QUEUED, Delivery.ENQUEUE_AND_PROMOTE)

# A row is (event, state, backlog); where the queue makes no difference both rows are alike.
TABLE: dict[tuple[Event, State, bool], Move] = {
    (Event.SEND, _WAITING, False): _NEW,
    (Event.SEND, _WAITING, True): _NEW_LAST,
    (Event.SEND, _ERROR, False): _NEW,
    (Event.SEND, _ERROR, True): _NEW_LAST,
    (Event.SEND_INTERRUPT, _WAITING, False): _NEW,
    (Event.SEND_INTERRUPT, _WAITING, True): _NEW_LAST,
    (Event.SEND_INTERRUPT, _ERROR, False): _NEW,
    (Event.SEND_INTERRUPT, _ERROR, True): _NEW_LAST,
    (Event.FINISH_INTERRUPTION, _INTERRUPTING, False): Move(_WAITING),
    (Event.FINISH_INTERRUPTION, _INTERRUPTING, True): Move(_RUNNING, Delivery.PROMOTE),
    (Event.FINISH_TURN, _RUNNING, False): Move(_WAITING),
    (Event.FINISH_TURN, _RUNNING, True): Move(_RUNNING, Delivery.PROMOTE),
    **{
        (event, state, backlog): move
        for event, state, move in (
            (Event.SEND, _QUEUED, Move(_QUEUED, Delivery.ENQUEUE)),
            (Event.SEND, _RUNNING, Move(_RUNNING, Delivery.ENQUEUE)),
            (Event.SEND, _INTERRUPTING, Move(_INTERRUPTING, Delivery.ENQUEUE)),
            (Event.SEND, _ACTION, Move(_ACTION, Delivery.ENQUEUE)),
            (Event.SEND_INTERRUPT, _QUEUED, Move(_QUEUED, Delivery.ENQUEUE)),
            (Event.SEND_INTERRUPT, _RUNNING, Move(_INTERRUPTING, Delivery.ENQUEUE)),
            (Event.SEND_INTERRUPT, _INTERRUPTING, Move(_INTERRUPTING, Delivery.ENQUEUE)),
            (Event.SEND_INTERRUPT, _ACTION, Move(_RUNNING, Delivery.ENQUEUE)),
            (Event.ADMIT, _QUEUED, Move(_RUNNING)),
            (Event.INTERRUPT, _QUEUED, Move(_INTERRUPTING)),
            (Event.INTERRUPT, _RUNNING, Move(_INTERRUPTING)),
            (Event.INTERRUPT, _ACTION, Move(_RUNNING)),
            (Event.FAIL, _QUEUED, Move(_ERROR)),
            (Event.FAIL, _RUNNING, Move(_ERROR)),
            (Event.REQUIRE_ACTION, _RUNNING, Move(_ACTION)),
            (Event.ANSWER, _ACTION, Move(_RUNNING)),
            (Event.PUT_BACK, _QUEUED, Move(_QUEUED)),
            (Event.PUT_BACK, _RUNNING, Move(_QUEUED)),
            (Event.ARCHIVE, _WAITING, Move(_WAITING, archived=True)),
            (Event.ARCHIVE, _ERROR, Move(_ERROR, archived=True)),
            *((Event.RECONCILE, state, Move(_ERROR)) for state in State),
        )
        for backlog in (False, True)
    },
}


def move(situation: Situation, event: Event) -> Move:
    """Return what ``event`` makes of a chat.

    Raises:
        IllegalMove: If the table has no such move; an archived chat can only be unarchived.
    """
    if event is Event.UNARCHIVE and situation.archived:
        return Move(situation.state)
    found = TABLE.get((event, situation.state, situation.backlog))
    if found is None or situation.archived:
        raise IllegalMove(event.value, "archived" if situation.archived else situation.state.value)
    return found
