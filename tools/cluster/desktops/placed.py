"""Desktops and nodes as rows show them to a control plane."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from deskhand.tools.fleet.desktop_info import DesktopInfo
from deskhand.tools.store.rows.desktops import READY, STARTING, WANTED
from deskhand.tools.store.tables.desktops import DesktopRow, NodeRow

from .gates import GateAddress

Json = dict[str, Any]
DOWN_SECONDS = 10.0
"""Silence of a gate after which its node is down; the placer has the same rule."""
_FIELDS = {field.name for field in fields(DesktopInfo)}


@dataclass(frozen=True)
class NodeDesktop:
    """A desktop that is not over."""

    id: str
    chat_id: str | None
    state: str
    gate: GateAddress
    reason: str
    full_nodes: frozenset[str]
    """While it waits: the nodes that would take it if a desktop ended there."""
    created_at: float
    facts: Json
    wanted: Json

    @property
    def is_ready(self) -> bool:
        """True if it can be used."""
        return self.state == READY

    @property
    def has_display(self) -> bool:
        """False until its display was started."""
        return bool(self.facts.get("has_display", True))

    @property
    def name(self) -> str:
        """Name for people."""
        return str(self.facts.get("name") or self.wanted.get("name") or f"desktop {self.id}")

    @property
    def profile(self) -> str:
        """Name of the profile of its browser; empty for none."""
        return str(self.facts.get("profile") or self.wanted.get("profile") or "")

    def info(self, live_url: str) -> DesktopInfo:
        """Return the desktop as the API shows it."""
        known: Json = {name: one for name, one in self.facts.items() if name in _FIELDS}
        for name in ("size", "missing_protections", "speak"):
            known[name] = tuple(known.get(name) or ((0, 0) if name == "size" else ()))
        given = {"id": self.id, "name": self.name, "chat_id": self.chat_id, "status": "ready"}
        unknown = {"level": "", "pid": 0, "display": ""}
        return DesktopInfo(
            **{**unknown, **known, **given, "created_at": self.created_at, "live_url": live_url}
        )


def placed(row: DesktopRow) -> NodeDesktop:
    """Return the desktop of a row."""
    return NodeDesktop(
        *(row.id, row.chat_id, row.state, GateAddress(row.node, row.address), row.reason),
        full_nodes=frozenset(row.full_nodes or ()),
        created_at=row.created_at,
        facts=dict(row.facts or {}),
        wanted=dict(row.wanted),
    )


@dataclass(frozen=True)
class PlacedNode:
    """A node and whether it can be reached."""

    gate: GateAddress
    is_up: bool
    draining: bool
    public_url: str
    """Where viewers reach it; empty if they do not."""

    @property
    def has_viewers(self) -> bool:
        """True if viewers reach it now."""
        return self.is_up and bool(self.public_url)


def node_of(row: NodeRow, now: float) -> PlacedNode:
    """Return the node of a row; ``now`` is the time of the database."""
    gate = GateAddress(row.name, row.address)
    return PlacedNode(gate, now - row.seen_at < DOWN_SECONDS, row.draining, row.public_url)


@dataclass(frozen=True)
class Placed:
    """All desktops that are not over, and all nodes."""

    desktops: Mapping[str, NodeDesktop] = field(default_factory=dict)
    nodes: Mapping[str, PlacedNode] = field(default_factory=dict)

    def ready(self, desktop_id: str) -> NodeDesktop | None:
        """Return a desktop that can be used."""
        found = self.desktops.get(desktop_id)
        return found if found is not None and found.is_ready else None

    def newest_first(self) -> Sequence[NodeDesktop]:
        """Return the desktops that can be used."""
        found = [one for one in self.desktops.values() if one.is_ready]
        return sorted(found, key=lambda one: -one.created_at)

    def waiting(self) -> Sequence[NodeDesktop]:
        """Return the desktops that wait for room, the oldest first."""
        found = [one for one in self.desktops.values() if one.state == WANTED]
        return sorted(found, key=lambda one: (one.created_at, one.id))

    def position(self, chat_id: str) -> int | None:
        """Return the position of a chat's desktop among those that wait, from 1."""
        waiting = [one.chat_id for one in self.waiting()]
        return waiting.index(chat_id) + 1 if chat_id in waiting else None

    def holder(self, profile: str) -> NodeDesktop | None:
        """Return the desktop that has a profile, or will have it."""
        states = (WANTED, STARTING, READY)
        found = (one for one in self.desktops.values() if one.profile == profile)
        return next((one for one in found if one.state in states), None)

    def crowding(self) -> Sequence[tuple[frozenset[str], int]]:
        """Return desktops that should end if they are at rest, and how many of them.

        These are all of the nodes that are being drained, and on full nodes as many as wait for
        them.
        """
        draining = self._on({node.gate.node for node in self.nodes.values() if node.draining})
        waiting = Counter([one.full_nodes for one in self.waiting()])
        found = [(self._on(names), most) for names, most in waiting.items()]
        return [(ids, most) for ids, most in ((draining, len(draining)), *found) if ids]

    def _on(self, nodes: Collection[str]) -> frozenset[str]:
        """Return the desktops of nodes that can be used."""
        ready = (one for one in self.desktops.values() if one.is_ready)
        return frozenset(one.id for one in ready if one.gate.node in nodes)
