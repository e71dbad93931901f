"""Names by which nodes of a cluster are found in Ray: resources and labels. Pure.

A node has as many ``desk`` as it has places, and as many of a resource of its own, by which a
desktop is pinned to it. Its labels contain its name and the address of its gate. A label's value
has up to 63 letters, digits, hyphens, underscores and dots, with a letter or digit at both ends; so
the address is written with underscores for its colons.
"""

from collections.abc import Mapping

from deskhand.tools.cluster.errors import BadMember
from deskhand.tools.cluster.member import Member
from deskhand.tools.cluster.moment import listen_address

PLACE = "desk"
"""The resource of which a desktop takes one."""
NODE_LABEL, GATE_LABEL = "deskhand-node", "deskhand-gate"
LONGEST_VALUE = 63
_BEFORE = "at-"
"""Begins the value of an address: one of IPv6 may begin with a colon."""


def place_of(node: str) -> str:
    """Return the resource of a node's own."""
    return f"{PLACE}_{node}"


def resources_of(node: str, places: int) -> dict[str, int]:
    """Return the resources with which a node joins Ray."""
    return {PLACE: places, place_of(node): places}


def bundle_of(node: str) -> dict[str, float]:
    """Return what a desktop takes of a node."""
    return {PLACE: 1.0, place_of(node): 1.0}


def node_of_bundle(bundle: Mapping[str, float]) -> str:
    """Return the node of what a desktop takes; empty if it is no desktop's."""
    before = place_of("")
    return next((name.removeprefix(before) for name in bundle if name.startswith(before)), "")


def labels_of(node: str, address: str) -> dict[str, str]:
    """Return the labels with which a node joins Ray; ``address`` is its gate's ``HOST:PORT``.

    Raises:
        BadMember: If the name is not possible, or the address is none, or too long for a label.
    """
    host, port = listen_address(address)
    value = f"{_BEFORE}{host}:{port}".replace(":", "_")
    if len(value) > LONGEST_VALUE:
        raise BadMember(f"the address {address!r} is too long for Ray; give an IP address")
    return {NODE_LABEL: Member("node", node).name, GATE_LABEL: value}


def node_and_gate(labels: Mapping[str, str]) -> tuple[str, str] | None:
    """Return name and gate of the node that has joined with these labels; None if it is no node."""
    name, value = labels.get(NODE_LABEL, ""), labels.get(GATE_LABEL, "")
    host, _, port = value.removeprefix(_BEFORE).replace("_", ":").rpartition(":")
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        listen_address(address)
        return Member("node", name).name, address
    except BadMember:
        return None
