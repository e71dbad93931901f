"""Metrics of the nodes of a cluster, also those that an autoscaler of hosts needs. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from deskhand.desktop.metrics.exposition import Metric, Sample

STATES = ("up", "draining", "refused", "down")


class MeasuredNode(Protocol):
    """A node as the database describes it."""

    @property
    def name(self) -> str:
        """The name."""

    @property
    def state(self) -> str:
        """One of :data:`STATES`."""

    @property
    def places(self) -> int:
        """Number of desktops that it takes."""

    @property
    def desktops(self) -> int:
        """Number of desktops that take a place."""

    @property
    def failures(self) -> int:
        """Starts that have failed in a row."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON has them."""


class MeasuredCluster(Protocol):
    """The nodes, and the desktops that wait for one."""

    @property
    def nodes(self) -> Sequence[MeasuredNode]:
        """All nodes."""

    @property
    def waiting(self) -> int:
        """Number of desktops that wait for a place."""


def node_metrics(cluster: MeasuredCluster) -> Iterator[Metric]:
    """Yield the metrics."""
    states = tuple(
        Sample(int(node.state == state), {"node": node.name, "state": state})
        for node in cluster.nodes
        for state in STATES
    )
    meaning = "State of each node: 1 for the one that it has, 0 for the others."
    yield Metric("deskhand_node_state", "gauge", meaning, states)
    numbers = {
        "places": "Desktops that a node takes.",
        "desktops": "Desktops that take a place of a node.",
        "failures": "Starts on a node that have failed in a row.",
    }
    for name, meaning in numbers.items():
        samples = tuple(Sample(getattr(one, name), {"node": one.name}) for one in cluster.nodes)
        yield Metric(f"deskhand_node_{name}", "gauge", meaning, samples)
    waiting = (Sample(cluster.waiting),)
    meaning = "Desktops that wait for a place on a node."
    yield Metric("deskhand_desktops_waiting", "gauge", meaning, waiting)
