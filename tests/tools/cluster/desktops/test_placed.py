"""Desktops and nodes as rows show them to a control plane."""

from typing import Any

from deskhand.tools.cluster.desktops.gates import GateAddress
from deskhand.tools.cluster.desktops.placed import NodeDesktop, Placed, PlacedNode
from deskhand.tools.store.rows.desktops import READY, STARTING, WANTED


def desktop(desktop_id: str, state: str, node: str = "", *full_nodes: str) -> NodeDesktop:
    known: dict[str, Any] = {"reason": "", "created_at": 1.0, "facts": {}, "wanted": {}}
    gate = GateAddress(node, f"{node}:1")
    return NodeDesktop(*(desktop_id, None, state, gate), full_nodes=frozenset(full_nodes), **known)


def crowding(
    *desktops: NodeDesktop, draining: tuple[str, ...] = ()
) -> set[tuple[frozenset[str], int]]:
    nodes = {
        name: PlacedNode(GateAddress(name, f"{name}:1"), True, name in draining, "")
        for name in ("n1", "n2", "n3")
    }
    return set(Placed({one.id: one for one in desktops}, nodes).crowding())


RUNNING = (
    desktop("a", READY, "n1"),
    desktop("b", READY, "n1"),
    desktop("c", READY, "n2"),
    desktop("s", STARTING, "n2"),
    desktop("d", READY, "n3"),
)


def test_as_many_desktops_of_full_nodes_make_room_as_wait_for_them() -> None:
    anywhere = [desktop(one, WANTED, "", "n1", "n2") for one in "xy"]
    assert crowding(*RUNNING, *anywhere) == {(frozenset("abc"), 2)}


def test_a_desktop_that_can_start_on_one_node_alone_gets_room_there() -> None:
    of_profile = desktop("x", WANTED, "", "n2")
    anywhere = desktop("y", WANTED, "", "n1", "n2")
    assert crowding(*RUNNING, of_profile) == {(frozenset("c"), 1)}
    both = {(frozenset("c"), 1), (frozenset("abc"), 1)}
    assert crowding(*RUNNING, of_profile, anywhere) == both


def test_nothing_makes_room_for_a_desktop_that_waits_for_something_else() -> None:
    assert crowding(*RUNNING, desktop("x", WANTED)) == set()


def test_all_desktops_leave_a_node_that_is_drained_also_while_others_wait() -> None:
    assert crowding(*RUNNING, draining=("n1",)) == {(frozenset("ab"), 2)}
    waiting = desktop("x", WANTED, "", "n2")
    assert crowding(*RUNNING, waiting, draining=("n1",)) == {
        (frozenset("ab"), 2),
        (frozenset("c"), 1),
    }
