"""States of a recording that a dead desktop left, and the next thing to do with it. Pure.

    left ──copy──> copied ──verify──> verified ──store──> stored ──remove──> removed
     ^                      │                                                   ^
     └──────differs─────────┘        no owner for a day, or nothing that plays ─┘

Each state is committed before the next thing is done, and everything may be done twice: a control
plane that is killed between two states repeats the last thing at its next start.

- *left*: the files are in the desktop's folder only.
- *copied*: a copy is in the data directory.
- *verified*: the copy had the same bytes. From here on the original is not read again.
- *stored*: the finished copy is a file of the chat. This state and the rows of the files are
  written in one transaction, so that a recording is stored exactly once.
- *removed*: the original and the copy are gone.
"""

from enum import StrEnum

OWNERLESS_SECONDS = 24 * 3600.0
"""Time for which a recording whose chat was deleted is kept."""


class LeftState(StrEnum):
    """State of a recording that a dead desktop left; the values are stored."""

    LEFT = "left"
    COPIED = "copied"
    VERIFIED = "verified"
    STORED = "stored"
    REMOVED = "removed"


class Action(StrEnum):
    """The next thing to do."""

    COPY = "copy"
    VERIFY = "verify"
    STORE = "store"
    REMOVE = "remove"
    NOTHING = "nothing"


_ACTIONS = {
    LeftState.LEFT: Action.COPY,
    LeftState.COPIED: Action.VERIFY,
    LeftState.VERIFIED: Action.STORE,
    LeftState.STORED: Action.REMOVE,
    LeftState.REMOVED: Action.NOTHING,
}
_SUCCESS = {
    Action.COPY: LeftState.COPIED,
    Action.VERIFY: LeftState.VERIFIED,
    Action.STORE: LeftState.STORED,
    Action.REMOVE: LeftState.REMOVED,
}


def next_action(state: LeftState, *, owned: bool, age: float) -> Action:
    """Return the next thing to do; ``age`` counts seconds since the recording was found.

    A recording is owned while the chat that it shows exists.
    """
    action = _ACTIONS[state]
    if owned or action in (Action.REMOVE, Action.NOTHING):
        return action
    return Action.REMOVE if age >= OWNERLESS_SECONDS else Action.NOTHING


def after(action: Action, *, succeeded: bool) -> LeftState:
    """Return the state after something was done.

    A copy that differs is made again. What cannot be stored, as nothing of it plays, is removed.
    """
    if succeeded:
        return _SUCCESS[action]
    return LeftState.LEFT if action is Action.VERIFY else LeftState.REMOVED
