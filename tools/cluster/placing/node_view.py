"""A node as operators see it. Pure."""

from dataclasses import asdict, dataclass
from typing import Any, Protocol

DOWN_SECONDS = 15.0
"""Without an answer; the placer that leads writes one every two seconds."""


class NodeColumns(Protocol):
    """The row of a node."""

    name: str
    address: str
    public_url: str
    version: str
    places: int
    draining: bool
    failures: int
    refused_until: float
    reason: str
    seen_at: float


@dataclass(frozen=True)
class NodeView:
    """A node with its desktops and its state."""

    name: str
    address: str
    version: str
    places: int
    desktops: int
    state: str
    """``up``, ``draining``, ``refused`` (it gets no desktops, for `reason`) or ``down``."""
    reason: str
    failures: int
    """Starts that have failed in a row."""
    draining: bool
    seen_ago_s: float

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON has them."""
        return asdict(self)


@dataclass(frozen=True)
class ClusterView:
    """All nodes, and what waits for them."""

    nodes: tuple[NodeView, ...]
    waiting: int
    """Desktops that wait for a place."""


def view_of(row: NodeColumns, desktops: int, now: float) -> NodeView:
    """Return a node; ``now`` is the time of the database, ``desktops`` how many it has."""
    return NodeView(
        *(row.name, row.address, row.version, row.places, desktops, _state(row, now)),
        reason=row.reason,
        failures=row.failures,
        draining=row.draining,
        seen_ago_s=round(now - row.seen_at, 1),
    )


def _state(row: NodeColumns, now: float) -> str:
    if now - row.seen_at >= DOWN_SECONDS:
        return "down"
    if row.draining:
        return "draining"
    return "refused" if row.refused_until > now or row.reason else "up"
