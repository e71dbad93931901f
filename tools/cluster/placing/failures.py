"""What follows when a start has failed. Pure."""

from dataclasses import dataclass
from enum import Enum

from .errors import GateRefused, PlacingError

FAILURES_IN_A_ROW = 5
QUARANTINE_SECONDS = 600.0
"""For which a node gets no desktops after so many failures."""
NO_ROOM_SECONDS = 5.0
"""For which a node is left out that has less room than it seems."""
HUNG_SECONDS = 5.0
"""For which a node is left out on which Ray does not reserve room; twice as long each next time."""
MOST_HUNG_SECONDS = 60.0
_BY_ORDER = frozenset({"bad_order", "bad_template", "profile_taken"})


class StartFault(Enum):
    """Where the cause of a failed start is."""

    ORDER = "order"
    """No node would start it."""
    ROOM = "room"
    """The node is full; it has not failed."""
    NODE = "node"


@dataclass(frozen=True)
class NodeFailures:
    """The failures of a node after another one."""

    count: int
    reason: str

    @property
    def is_refused(self) -> bool:
        """True if the node gets no desktops for a time."""
        return self.count >= FAILURES_IN_A_ROW


def fault_of(error: PlacingError) -> StartFault:
    """Return where the cause of a failed start is."""
    if isinstance(error, GateRefused) and error.code in _BY_ORDER:
        return StartFault.ORDER
    if isinstance(error, GateRefused) and error.code == "no_room":
        return StartFault.ROOM
    return StartFault.NODE


def one_more(failures: int, error: PlacingError) -> NodeFailures:
    """Return the failures of a node on which another start has failed."""
    return NodeFailures(failures + 1, f"{failures + 1} starts failed, last: {error}")
