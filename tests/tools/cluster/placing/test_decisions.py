"""What the placer does next."""

from dataclasses import replace

import pytest

from deskhand.tools.cluster.placing.actions import (
    Action,
    EndDesktop,
    EndStray,
    ExplainWait,
    FinishEnd,
    ForgetNode,
    LoseDesktop,
    MarkNode,
    ReaddressDesktop,
    RefuseDesktop,
    ReleaseRoom,
    RequeueDesktop,
    ReserveRoom,
    ResumeStart,
    StartDesktop,
    stray_subject,
)
from deskhand.tools.cluster.placing.decisions import decide, is_cut_off
from deskhand.tools.cluster.placing.selection import SILENT
from deskhand.tools.cluster.placing.situation import (
    ENDING,
    READY,
    STARTING,
    PlacedDesktop,
    RoomWait,
    SeenNode,
)
from tests.tools.cluster.placing.situations import (
    NOW,
    failed,
    node,
    placed,
    silent,
    situation,
    wanted,
)

GONE = "node n7 has not answered for 10 s"


def decided(desktop: PlacedDesktop, *nodes: SeenNode) -> tuple[Action, ...]:
    """Return what is done to one desktop."""
    found = decide(situation([desktop], nodes))
    return tuple([one for one in found if not isinstance(one, MarkNode)])


def down(name: str = "n7") -> SeenNode:
    return silent(name, 10.0)


def test_a_wanted_desktop_is_started() -> None:
    assert decided(wanted("d"), node()) == (StartDesktop("d", "n7", "n7:1"),)


def test_the_oldest_is_first_and_the_others_know_how_many_are_before_them() -> None:
    found = decide(situation([wanted(one) for one in "abc"], [node(places=1)]))
    room = "no room: 1 node, 0 of 1 places free; {} before you"
    assert found == (
        StartDesktop("a", "n7", "n7:1"),
        ExplainWait("b", RoomWait(room.format(0), ("n7",))),
        ExplainWait("c", RoomWait(room.format(1), ("n7",))),
    )


def test_a_reason_that_is_known_is_not_written_again() -> None:
    wait = RoomWait("no room: 1 node, 0 of 0 places free; 0 before you", ("n7",))
    assert decided(wanted("d", wait=wait), node(places=0)) == ()
    before = replace(wait, full_nodes=())
    assert decided(wanted("d", wait=before), node(places=0)) == (ExplainWait("d", wait),)


def test_a_desktop_whose_action_has_not_ended_is_left_alone() -> None:
    desktops = [wanted("d"), placed("s", STARTING), placed("r", READY), placed("e", ENDING)]
    busy = frozenset(["d", "s", "r", "e"])
    assert decide(situation(desktops, [node(desktops=["x"])], busy=busy)) == (
        EndStray("x", "n7", "n7:1"),
    )


def test_a_start_of_another_placer_is_continued() -> None:
    assert decided(placed("d", STARTING), node()) == (ResumeStart("d", "n7", "n7:1", 1),)


def test_a_start_on_a_node_that_is_gone_is_wanted_again() -> None:
    assert decided(placed("d", STARTING), down()) == (RequeueDesktop("d", 1, GONE),)
    assert decided(placed("d", STARTING)) == (RequeueDesktop("d", 1, GONE),)


@pytest.mark.parametrize("state", [STARTING, READY, ENDING])
def test_a_node_that_is_silent_for_a_moment_keeps_its_desktops(state: str) -> None:
    assert decided(placed("d", state), silent()) == ()


def test_the_desktops_of_a_node_that_is_down_are_lost() -> None:
    assert decided(placed("d", READY), down()) == (LoseDesktop("d", 1, GONE),)
    assert decided(placed("d", READY)) == (LoseDesktop("d", 1, GONE),)


def test_a_desktop_that_its_node_does_not_have_is_lost() -> None:
    ended = "the desktop has ended by itself on node n7"
    assert decided(placed("d", READY), node()) == (LoseDesktop("d", 1, ended),)
    assert decided(placed("d", READY), node(desktops=["d"])) == ()


def test_an_answer_from_before_the_start_loses_no_desktop() -> None:
    assert decided(placed("d", READY, changed_at=NOW - 1.0), node()) == ()


def test_the_address_of_a_desktop_follows_its_node() -> None:
    moved = node(desktops=["d"], address="n7:2")
    assert decided(placed("d", READY), moved) == (ReaddressDesktop("d", "n7", "n7:2"),)


def test_a_desktop_is_ended_on_its_node() -> None:
    assert decided(placed("d", ENDING), node(desktops=["d"])) == (EndDesktop("d", "n7", "n7:1"),)


def test_a_desktop_that_runs_nowhere_has_ended() -> None:
    assert decided(placed("d", ENDING), down()) == (FinishEnd("d"),)
    assert decided(placed("d", ENDING, "")) == (FinishEnd("d"),)


def test_a_node_that_returns_ends_what_was_replaced() -> None:
    back = node(desktops=["over", "moved", "mine"])
    rows = [placed("moved", READY, "n8"), placed("mine", READY)]
    other = node("n8", desktops=["moved"])
    assert decide(situation(rows, [back, other])) == (
        EndStray("moved", "n7", "n7:1"),
        EndStray("over", "n7", "n7:1"),
    )


def test_an_answer_from_before_the_end_of_a_desktop_does_not_make_it_a_stray() -> None:
    for asked_at, found in ((NOW + 1.0, ()), (NOW + 1.1, (EndStray("d", "n7", "n7:1"),))):
        seen = node(desktops=["d"], asked_at=asked_at)
        ended = {stray_subject("d", "n7"): NOW}
        assert decide(situation([], [seen], ended=ended)) == found


def test_a_desktop_that_is_being_ended_elsewhere_waits_for_that() -> None:
    busy = frozenset([stray_subject("d", "n7")])
    assert decide(situation([wanted("d")], [node(), node("n8")], busy=busy)) == ()


def test_a_desktop_is_refused_after_three_failed_starts() -> None:
    history = {"d": failed("n1", "n2", "n3")}
    found = decide(situation([wanted("d")], [node()], history=history))
    assert found == (RefuseDesktop("d", "n3 has failed"),)


def test_a_desktop_is_refused_after_ten_minutes() -> None:
    history = {"d": failed(since=NOW - 600.0), "e": failed(since=NOW - 599.0)}
    found = decide(situation([wanted("d"), wanted("e")], history=history))
    room = "no room: 0 nodes, 0 of 0 places free; 0 before you"
    assert found == (RefuseDesktop("d", room), ExplainWait("e", RoomWait(room)))


def test_without_ray_desktops_wait_and_others_end() -> None:
    problem = "Ray does not answer at h:1"
    rows = [wanted("d"), placed("e", ENDING)]
    found = decide(situation(rows, [node(desktops=["e"])], rooms_problem=problem))
    assert found == (EndDesktop("e", "n7", "n7:1"), ExplainWait("d", RoomWait(problem)))


def test_reservations_follow_the_rows() -> None:
    rows = [
        placed("held", READY),
        placed("lost", READY),
        placed("elsewhere", READY),
        placed("start", STARTING),
        placed("ending", ENDING),
        wanted("wanted"),
        placed("outside", READY, "n8"),
        placed("hung", READY, "n9"),
        placed("unknown", READY, "n0"),
    ]
    nodes = [
        node(desktops=["held", "lost", "elsewhere"]),
        node("n8", desktops=["outside"], in_ray=False),
        node("n9", desktops=["hung"], left_out_until=NOW + 1.0),
    ]
    held = {"held": "n7", "elsewhere": "n8", "over": "n7", "wanted": "n7"}
    found = decide(situation(rows, nodes, reservations=held))
    rooms = [one for one in found if isinstance(one, ReserveRoom | ReleaseRoom)]
    assert rooms == [ReleaseRoom("over"), ReserveRoom("lost", "n7"), ReserveRoom("elsewhere", "n7")]


def test_the_reason_of_a_node_is_recorded_when_it_changes() -> None:
    drained = node(draining=True)
    assert decide(situation([], [drained])) == (MarkNode("n7", "it is drained"),)
    assert decide(situation([], [replace(drained, reason="it is drained")])) == ()
    assert decide(situation([], [node(reason="old")])) == (MarkNode("n7", ""),)
    assert decide(situation([], [silent()])) == (MarkNode("n7", SILENT),)
    assert decide(situation([], [node(seen_at=0.0, draining=True)])) == ()


def test_a_node_that_is_gone_for_a_day_is_forgotten() -> None:
    old = replace(down(), in_ray=False, seen_at=NOW - 86_401.0)
    assert decide(situation([], [old])) == (ForgetNode("n7"),)
    marked = (MarkNode("n7", SILENT),)
    assert decide(situation([], [replace(old, in_ray=True)])) == marked
    assert decide(situation([], [replace(old, seen_at=NOW - 3600.0)])) == marked
    used = situation([placed("d", READY)], [old])
    assert decide(used) == (LoseDesktop("d", 1, GONE), *marked)


def test_a_placer_that_reaches_no_node_since_one_moment_is_cut_off() -> None:
    one, other = silent("n7", 10.0), silent("n8", 14.0)
    assert is_cut_off(situation([], [one, other]))
    # Its desktops would be lost before the other one is silent for as long.
    assert is_cut_off(situation([], [one, silent("n8", 6.0)]))
    assert not is_cut_off(situation([], [one, silent("n8", 4.0)]))
    assert not is_cut_off(situation([], [silent("n7", 9.0), silent("n8", 9.9)]))
    assert not is_cut_off(situation([], [one]))
    assert not is_cut_off(situation([], [one, node("n8")]))
    assert not is_cut_off(situation([], [one, silent("n8", 60.0)]))
    # The placer that leads next has no answers.
    assert not is_cut_off(situation([], [replace(one, answer=None), replace(other, answer=None)]))
