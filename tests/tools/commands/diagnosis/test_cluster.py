"""Findings about a cluster."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from deskhand.tools.commands.diagnosis.cluster import (
    certificate_finding,
    node_findings,
    token_finding,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Node:
    state: str = "up"
    reason: str = ""
    name: str = "n7"
    places: int = 40
    desktops: int = 3
    seen_ago_s: float = 1.0


def test_a_node_that_takes_desktops_is_well() -> None:
    (found,) = node_findings([Node()], 0)
    assert (found.name, found.status) == ("node n7", "ok")
    assert found.detail == "3 of 40 places used"


@pytest.mark.parametrize(
    ("node", "status", "detail"),
    [
        (Node("refused", "5 starts failed, last: no X"), "fail", "refused: 5 starts failed"),
        (Node("down", "old", seen_ago_s=61.4), "fail", "down: it has not answered for 61 s"),
        (Node("draining"), "warn", "drained, 3 of 40 places used"),
    ],
)
def test_a_node_that_takes_none_has_the_reason_and_a_remedy(
    node: Node, status: str, detail: str
) -> None:
    (found,) = node_findings([node], 0)
    assert found.status == status
    assert found.detail.startswith(detail)
    assert found.remedy


def test_desktops_that_wait_are_a_warning() -> None:
    for waiting, text in ((1, "1 desktop waits"), (2, "2 desktops wait")):
        _, found = node_findings([Node()], waiting)
        assert (found.status, found.detail) == ("warn", f"{text} for a place")


def test_a_cluster_without_nodes_fails() -> None:
    (found,) = node_findings([], 0)
    assert (found.name, found.status) == ("nodes", "fail")


@pytest.mark.parametrize(
    ("days", "status", "detail"),
    [
        (30, "ok", "node n7, until 2026-01-31 00:00 UTC"),
        (13, "warn", "ends soon: node n7, until 2026-01-14 00:00 UTC"),
        (0, "fail", "over: node n7, until 2026-01-01 00:00 UTC"),
    ],
)
def test_a_certificate_is_renewed_before_its_end(days: int, status: str, detail: str) -> None:
    found = certificate_finding("node n7", NOW + timedelta(days=days), NOW)
    assert (found.status, found.detail) == (status, detail)
    assert found.remedy.startswith("deskhand ca node n7") == (status != "ok")


def test_a_token_that_cannot_be_used_fails_with_the_reason() -> None:
    assert token_finding("").status == "ok"
    found = token_finding("others may read it")
    assert (found.status, found.detail) == ("fail", "others may read it")
