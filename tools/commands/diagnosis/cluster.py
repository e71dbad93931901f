"""Findings about a cluster: its nodes, the certificate of this host, and Ray's token. Pure."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Protocol

from .finding import Finding

SOON = timedelta(days=14)
"""Before the end of a certificate, in which a new one should be written."""
START = "start one with deskhand node"
_REMEDIES = {
    "down": "start it; if it is gone for good, it is forgotten after a day",
    "refused": "remove the reason on the node",
}


class ExaminedNode(Protocol):
    """A node as the database describes it."""

    @property
    def name(self) -> str:
        """The name."""

    @property
    def state(self) -> str:
        """``up``, ``draining``, ``refused`` or ``down``."""

    @property
    def reason(self) -> str:
        """Why it gets no desktops."""

    @property
    def places(self) -> int:
        """Number of desktops that it takes."""

    @property
    def desktops(self) -> int:
        """Number of desktops that it has."""

    @property
    def seen_ago_s(self) -> float:
        """Seconds since its last answer."""


def node_findings(nodes: Iterable[ExaminedNode], waiting: int) -> Iterator[Finding]:
    """Yield a finding for each node, and for desktops that wait for a place."""
    known = tuple(nodes)
    if not known:
        yield Finding("nodes", "fail", "there is none, so no desktop starts", START)
    for node in known:
        used = f"{node.desktops} of {node.places} places used"
        name = f"node {node.name}"
        if node.state == "up":
            yield Finding(name, "ok", used)
        elif node.state == "draining":
            remedy = f"deskhand nodes undrain {node.name}"
            yield Finding(name, "warn", f"drained, {used}", remedy)
        else:
            silent = f"it has not answered for {node.seen_ago_s:.0f} s"
            reason = silent if node.state == "down" else node.reason
            yield Finding(name, "fail", f"{node.state}: {reason}", _REMEDIES[node.state])
    if waiting:
        detail = f"{waiting} {'desktop waits' if waiting == 1 else 'desktops wait'} for a place"
        yield Finding("places", "warn", detail, START.replace("one", "another node", 1))


def certificate_finding(member: str, not_after: datetime, now: datetime) -> Finding:
    """Return the finding about the certificate of this host; ``member`` is such as ``plane p1``."""
    end = f"{member}, until {not_after:%Y-%m-%d %H:%M} UTC"
    remedy = f"deskhand ca {member} --out FOLDER, and copy it here; no restart is needed"
    if not_after <= now:
        return Finding("certificate", "fail", f"over: {end}", remedy)
    if not_after - now < SOON:
        return Finding("certificate", "warn", f"ends soon: {end}", remedy)
    return Finding("certificate", "ok", end)


def token_finding(problem: str) -> Finding:
    """Return the finding about Ray's token; ``problem`` is empty if it can be used."""
    if problem:
        return Finding("Ray's token", "fail", problem, "see docs/cluster.md")
    return Finding("Ray's token", "ok", "set, and no other user reads it")
