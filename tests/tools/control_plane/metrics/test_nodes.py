"""Metrics of the nodes of a cluster."""

from dataclasses import dataclass, field
from typing import Any

from deskhand.desktop.metrics.exposition import exposition
from deskhand.tools.control_plane.metrics.nodes import node_metrics


@dataclass(frozen=True)
class Node:
    name: str = "n7"
    state: str = "refused"
    places: int = 40
    desktops: int = 3
    failures: int = 5

    def to_json(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class Cluster:
    nodes: tuple[Node, ...] = field(default_factory=tuple)
    waiting: int = 0


def test_each_node_has_its_state_and_numbers() -> None:
    lines = list(exposition(node_metrics(Cluster((Node(),), 12))).splitlines())
    for line in (
        'node_state{node="n7",state="refused"} 1',
        'node_state{node="n7",state="up"} 0',
        'node_places{node="n7"} 40',
        'node_desktops{node="n7"} 3',
        'node_failures{node="n7"} 5',
        "desktops_waiting 12",
    ):
        assert f"deskhand_{line}" in lines
