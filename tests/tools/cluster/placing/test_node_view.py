"""A node as operators see it."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from deskhand.tools.cluster.placing.node_view import view_of

NOW = 1000.0


@dataclass
class Row:
    name: str = "n7"
    address: str = "h:1"
    public_url: str = ""
    version: str = "1.0"
    places: int = 80
    draining: bool = False
    failures: int = 2
    refused_until: float = 0.0
    reason: str = ""
    seen_at: float = NOW - 1.0


def test_a_view_has_what_operators_need() -> None:
    assert view_of(Row(), 3, NOW).to_json() == {
        **{"name": "n7", "address": "h:1", "version": "1.0", "places": 80, "desktops": 3},
        **{"state": "up", "reason": "", "failures": 2, "draining": False, "seen_ago_s": 1.0},
    }


@pytest.mark.parametrize(
    ("changed", "state"),
    [
        ({}, "up"),
        ({"seen_at": NOW - 15.0, "draining": True}, "down"),
        ({"draining": True}, "draining"),
        ({"refused_until": NOW + 1.0}, "refused"),
        ({"reason": "no memory"}, "refused"),
    ],
)
def test_a_node_has_one_state(changed: dict[str, Any], state: str) -> None:
    assert view_of(replace(Row(), **changed), 0, NOW).state == state
