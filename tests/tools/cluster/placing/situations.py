"""Desktops, nodes and situations for tests of what the placer decides."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from deskhand.tools.cluster.placing.node_answer import NodeAnswer
from deskhand.tools.cluster.placing.situation import (
    WANTED,
    FailedStart,
    PlacedDesktop,
    PlacingSituation,
    SeenNode,
    StartHistory,
)

NOW = 10_000.0
VERSION = "1.0"


def answer(name: str, places: int = 80, desktops: Iterable[str] = (), **more: Any) -> NodeAnswer:
    return NodeAnswer(
        name, more.pop("version", VERSION), places, desktops=frozenset(desktops), **more
    )


def node(name: str = "n7", places: int = 80, desktops: Iterable[str] = (), **more: Any) -> SeenNode:
    """A node that answers, has joined Ray and has a row."""
    of_answer = {
        key: more.pop(key) for key in ("version", "room_problem", "profiles") if key in more
    }
    up = SeenNode(
        *(name, f"{name}:1", answer(name, places, desktops, **of_answer), NOW - 0.5),
        is_answering=True,
        in_ray=True,
        seen_at=NOW - 0.5,
    )
    return replace(up, **more)


def silent(name: str = "n7", seconds: float = 4.0, desktops: Iterable[str] = ()) -> SeenNode:
    """A node whose last request has failed."""
    return node(name, desktops=desktops, is_answering=False, silent_seconds=seconds)


def wanted(desktop_id: str, **more: Any) -> PlacedDesktop:
    return PlacedDesktop(desktop_id, WANTED, changed_at=NOW - 5.0, **more)


def placed(desktop_id: str, state: str, on: str = "n7", **more: Any) -> PlacedDesktop:
    more = {"generation": 1, "changed_at": NOW - 5.0, "address": f"{on}:1", **more}
    return PlacedDesktop(desktop_id, state, on, **more)


def situation(
    desktops: Iterable[PlacedDesktop] = (), nodes: Iterable[SeenNode] = (), **more: Any
) -> PlacingSituation:
    named = {one.name: one for one in nodes}
    return PlacingSituation(NOW, VERSION, tuple(desktops), named, **more)


def failed(*nodes: str, at: float = NOW - 60.0, since: float = NOW - 5.0) -> StartHistory:
    return StartHistory(since, tuple([FailedStart(one, f"{one} has failed", at) for one in nodes]))
