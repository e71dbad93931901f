"""Which node a desktop starts on, and why it waits for one."""

from typing import Any

import pytest

from deskhand.tools.cluster.placing.actions import StartDesktop, stray_subject
from deskhand.tools.cluster.placing.selection import FAILED, SILENT, FreePlaces, refusal
from deskhand.tools.cluster.placing.situation import (
    READY,
    FailedStart,
    PlacedDesktop,
    PlacingSituation,
    RoomWait,
    SeenNode,
)
from tests.tools.cluster.placing.situations import (
    NOW,
    VERSION,
    answer,
    failed,
    node,
    placed,
    silent,
    situation,
    wanted,
)

D = wanted("d")


def chosen(found: PlacingSituation, desktop: PlacedDesktop = D, *before: FailedStart) -> str:
    """Return the node of a start, or the reason."""
    one = FreePlaces(found).choose(desktop, before, 0)
    return one.node if isinstance(one, StartDesktop) else one.reason


def full_nodes(*nodes: SeenNode, profile: str = "") -> tuple[str, ...]:
    """Return the nodes that would take a desktop, which must wait, if one ended there."""
    found = FreePlaces(situation([], nodes)).choose(wanted("d", profile=profile), (), 0)
    assert isinstance(found, RoomWait)
    return found.full_nodes


def test_the_node_with_the_most_free_places_is_chosen() -> None:
    nodes = [node("n1", 3), node("n2", 5), node("n3", 4)]
    assert FreePlaces(situation([D], nodes)).choose(D, (), 0) == StartDesktop("d", "n2", "n2:1")


def test_each_start_takes_a_place() -> None:
    free = FreePlaces(situation([], [node("n1", 2), node("n2", 1)]))
    found = [free.choose(wanted(one), (), 2) for one in "abcd"]
    assert [one.node for one in found if isinstance(one, StartDesktop)] == ["n1", "n1", "n2"]
    room = "no room: 2 nodes, 0 of 3 places free; 2 before you"
    assert found[3] == RoomWait(room, ("n1", "n2"))


def test_a_place_is_taken_by_what_should_be_there_and_by_what_is() -> None:
    row = placed("a", READY)
    full = situation([row], [node("n7", 2, ["a", "stray"])])
    assert chosen(full) == "no room: 1 node, 0 of 2 places free; 0 before you"
    assert chosen(situation([row], [node("n7", 2, ["a"])])) == "n7"
    assert chosen(situation([placed("a", READY, "gone")], [node("n7", 1)])) == "n7"


def test_desktops_of_a_working_directory_come_together_if_there_is_room() -> None:
    shared = wanted("d", workdir="w")
    there = placed("a", READY, "n1", workdir="w")
    nodes = [node("n1", 3, ["a"]), node("n2", 9)]
    assert chosen(situation([there], nodes), shared) == "n1"
    assert chosen(situation([there], nodes)) == "n2"
    full = [node("n1", 1, ["a"]), node("n2", 9)]
    assert chosen(situation([there], full), shared) == "n2"
    free = FreePlaces(situation([], [node("n1", 3), node("n2", 3)]))
    assert [free.choose(wanted(one, workdir="w"), (), 0) for one in "ab"] == [
        StartDesktop("a", "n1", "n1:1"),
        StartDesktop("b", "n1", "n1:1"),
    ]


def test_a_desktop_goes_where_its_profile_is() -> None:
    mine = wanted("d", profile="p")
    home = node("n1", 1, profiles=frozenset(["p"]))
    assert chosen(situation([], [home, node("n2")]), mine) == "n1"
    assert chosen(situation([], [node("n1", 1), node("n2")]), mine) == "n2"


def test_a_desktop_waits_for_the_node_of_its_profile() -> None:
    mine = wanted("d", profile="p")
    full = node("n1", 0, profiles=frozenset(["p"]))
    assert chosen(situation([], [full, node("n2")]), mine) == (
        "the profile p is on node n1, which refuses: it has no place free"
    )
    drained = node("n1", profiles=frozenset(["p"]), draining=True)
    assert chosen(situation([], [drained, node("n2")]), mine) == (
        "the profile p is on node n1, which refuses: it is drained"
    )


def test_only_nodes_that_would_take_it_are_full_for_a_desktop() -> None:
    full, drained = node("n1", 0), node("n2", 0, draining=True)
    short = node("n3", 6, room_problem="no memory: 1 MiB")
    assert full_nodes(full, drained, short) == ("n1", "n3")
    assert full_nodes(drained) == ()
    home = node("n4", 0, profiles=frozenset(["p"]))
    assert full_nodes(full, short, home, profile="p") == ("n4",)
    leaving = node("n4", 0, profiles=frozenset(["p"]), draining=True)
    assert full_nodes(full, short, leaving, profile="p") == ()


def test_a_new_profile_stays_where_its_first_desktop_starts() -> None:
    free = FreePlaces(situation([], [node("n1", 2), node("n2", 2)]))
    first, second = wanted("a", profile="p"), wanted("b", profile="p")
    assert free.choose(first, (), 0) == StartDesktop("a", "n1", "n1:1")
    assert free.choose(wanted("c"), (), 0) == StartDesktop("c", "n2", "n2:1")
    assert free.choose(second, (), 0) == StartDesktop("b", "n1", "n1:1")
    running = situation([placed("a", READY, "n1", profile="p")], [node("n1", 2), node("n2", 9)])
    assert chosen(running, second) == "n1"


def test_a_profile_is_looked_for_until_all_nodes_have_answered() -> None:
    mine = wanted("d", profile="p")
    unknown = SeenNode("n2", "n2:1")
    looking = "the node of the profile p is looked for"
    assert chosen(situation([], [node("n1"), unknown]), mine) == looking
    down = SeenNode("n2", "n2:1", silent_seconds=10.0)
    assert chosen(situation([], [node("n1"), down]), mine) == "n1"


def test_a_start_that_failed_on_one_node_is_tried_on_another() -> None:
    nodes = [node("n1", 1), node("n2", 9)]
    assert chosen(situation([], nodes), D, *failed("n2").failed) == "n1"


def test_the_only_node_is_tried_again_after_a_pause() -> None:
    alone = situation([], [node("n1")])
    just = failed("n1", at=NOW - 1.0).failed
    assert chosen(alone, D, *just) == "it is tried again on node n1: n1 has failed"
    assert chosen(alone, D, *failed("n1").failed) == "n1"


def test_a_start_that_only_seemed_to_fail_is_continued_where_it_runs() -> None:
    nodes = [node("n1", 1, ["d"], draining=True), node("n2")]
    running = situation([D], nodes)
    assert FreePlaces(running).choose(D, (), 0) == StartDesktop("d", "n1", "n1:1", is_running=True)
    ending = situation([D], nodes, busy=frozenset([stray_subject("d", "n1")]))
    assert chosen(ending) == "n2"


def test_without_a_node_there_is_no_room() -> None:
    assert chosen(situation()) == "no room: 0 nodes, 0 of 0 places free; 0 before you"


def test_nodes_that_refuse_are_named_with_their_reasons() -> None:
    reason = "5 starts failed, last: no X server"
    refused = node("n7", refused_until=NOW + 1.0, reason=reason)
    assert chosen(situation([], [refused])) == f"node n7 refuses: {reason}"
    full = node("n8", 0)
    assert chosen(situation([], [refused, full])) == (
        f"no room: 1 node, 0 of 0 places free; 0 before you; node n7 refuses: {reason}"
    )
    gate = node("n9", 6, ["a"], room_problem="no memory: 1 MiB")
    assert chosen(situation([], [refused, gate])) == (
        f"no room: 1 node, 5 of 6 places free; 0 before you; node n7 refuses: {reason};"
        " node n9 refuses: no memory: 1 MiB"
    )
    many = situation([], [silent(f"n{number}") for number in range(5)])
    assert chosen(many).count(SILENT) == 3


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({}, ""),
        ({"is_answering": False}, SILENT),
        ({"answer": None}, SILENT),
        ({"version": "0.9"}, "it has the version 0.9, and the control plane 1.0"),
        ({"draining": True}, "it is drained"),
        ({"answer": answer("n7", draining=True)}, "it is drained"),
        ({"room_problem": "no memory: 1 of 8 GB"}, "no memory: 1 of 8 GB"),
        ({"left_out_until": NOW + 1, "left_out_reason": "hung"}, "hung"),
        ({"left_out_until": NOW - 1, "left_out_reason": "hung"}, ""),
        ({"in_ray": False}, "it has not joined Ray"),
        ({"refused_until": NOW + 1, "reason": "5 starts failed"}, "5 starts failed"),
        ({"refused_until": NOW + 1}, FAILED),
        ({"refused_until": NOW - 1, "reason": "5 starts failed"}, ""),
    ],
)
def test_a_node_refuses_with_a_reason(changed: dict[str, Any], reason: str) -> None:
    assert refusal(node(**changed), NOW, VERSION) == reason
