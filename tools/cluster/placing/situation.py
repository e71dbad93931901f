"""What the placer knows when it decides: desktops, nodes, reservations and the time. Pure.

Times are those of the database.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

from .node_answer import NodeAnswer

T = TypeVar("T")
WANTED, STARTING, READY, ENDING = "wanted", "starting", "ready", "ending"
PLACED = (STARTING, READY, ENDING)
"""States of desktops that take a place of their node."""
SILENT_SECONDS = 10.0
"""Without an answer of its gate, after which a node is down."""


def _none() -> Mapping[str, T]:
    return MappingProxyType({})


@dataclass(frozen=True)
class RoomWait:
    """Why a desktop waits."""

    reason: str = ""
    """A sentence for people."""
    full_nodes: tuple[str, ...] = ()
    """Nodes that would take it if a desktop ended there."""


@dataclass(frozen=True)
class PlacedDesktop:
    """A desktop that is not over, as its row describes it."""

    id: str
    state: str
    node: str = ""
    address: str = ""
    generation: int = 0
    wait: RoomWait = RoomWait()
    """The one that is known, while it is wanted."""
    changed_at: float = 0.0
    workdir: str = ""
    profile: str = ""


@dataclass(frozen=True)
class SeenNode:
    """A node, as its row and its last answers describe it."""

    name: str
    address: str
    answer: NodeAnswer | None = None
    """The last one since this placer leads."""
    asked_at: float = 0.0
    """Time before which it was asked for this answer."""
    is_answering: bool = False
    """False if the last request has failed."""
    silent_seconds: float = 0.0
    """Without an answer, since this placer leads."""
    down_seconds: float = SILENT_SECONDS
    """Without an answer, after which it is down."""
    in_ray: bool = False
    draining: bool = False
    refused_until: float = 0.0
    """Time until which it gets no desktops, because its starts have failed."""
    left_out_until: float = 0.0
    """Time until which it gets no desktops, for a reason of the moment."""
    left_out_reason: str = ""
    reason: str = ""
    """The last known reason why it gets no desktops."""
    seen_at: float = 0.0

    @property
    def is_down(self) -> bool:
        """True if its desktops are lost."""
        return self.silent_seconds >= self.down_seconds

    @property
    def up(self) -> NodeAnswer | None:
        """The answer of a node that answers."""
        return self.answer if self.is_answering else None

    @property
    def profiles(self) -> frozenset[str]:
        """Profiles that it has, or had when it answered last."""
        return self.answer.profiles if self.answer is not None else frozenset()


@dataclass(frozen=True)
class FailedStart:
    """An attempt that has failed."""

    node: str
    reason: str
    at: float


@dataclass(frozen=True)
class StartHistory:
    """What this placer remembers of a desktop that waits."""

    since: float
    """Time at which it has begun to wait."""
    failed: tuple[FailedStart, ...] = ()


@dataclass(frozen=True)
class PlacingSituation:
    """All that the placer decides with."""

    now: float
    version: str
    """Of this placer; nodes of another version get no desktops."""
    desktops: tuple[PlacedDesktop, ...] = ()
    """Those that are not over, the oldest first."""
    nodes: Mapping[str, SeenNode] = field(default_factory=_none)
    history: Mapping[str, StartHistory] = field(default_factory=_none)
    reservations: Mapping[str, str] | None = None
    """Node by desktop; None if they were not read for this decision."""
    ended: Mapping[str, float] = field(default_factory=_none)
    """When this placer had desktops ended, by the subjects of `EndStray`."""
    rooms_problem: str = ""
    """Why nothing can be reserved; empty if it can."""
    busy: frozenset[str] = frozenset()
    """Subjects of actions that have not ended."""
