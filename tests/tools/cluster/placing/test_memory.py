"""What a placer remembers while it leads."""

from deskhand.tools.cluster.placing.actions import stray_subject
from deskhand.tools.cluster.placing.memory import PlacerMemory
from deskhand.tools.cluster.placing.situation import READY, FailedStart, StartHistory
from tests.tools.cluster.placing.situations import NOW, placed, wanted


def test_the_wait_of_a_desktop_lasts_over_its_failed_starts() -> None:
    memory = PlacerMemory()
    memory.read(NOW, [wanted("d"), placed("r", READY)], {})
    assert memory.history == {"d": StartHistory(NOW - 5.0)}
    memory.start_failed("d", "n7", "no")
    memory.read(NOW + 9.0, [wanted("d")], {})
    assert memory.history == {"d": StartHistory(NOW - 5.0, (FailedStart("n7", "no", NOW),))}
    memory.forget("d")
    assert memory.history == {}


def test_desktops_that_are_over_are_forgotten() -> None:
    memory = PlacerMemory()
    memory.read(NOW, [wanted("d")], {})
    memory.read(NOW, [], {})
    assert memory.history == {}


def test_a_start_of_another_placer_that_fails_here_is_remembered() -> None:
    memory = PlacerMemory()
    memory.read(NOW, [], {})
    memory.start_failed("d", "n7", "no")
    assert memory.history == {"d": StartHistory(NOW, (FailedStart("n7", "no", NOW),))}


def test_failures_in_a_row_are_counted_from_those_of_the_row() -> None:
    memory = PlacerMemory()
    memory.read(NOW, [], {"n7": 3})
    memory.node_failed("n7", 4)
    memory.read(NOW, [], {"n7": 3})
    assert memory.failures("n7") == 4
    assert memory.node_succeeded("n7")
    memory.read(NOW, [], {"n7": 3})
    assert memory.failures("n7") == 0
    assert not memory.node_succeeded("n7")


def test_a_node_is_left_out_for_a_time() -> None:
    memory = PlacerMemory()
    memory.read(NOW, [wanted("d")], {"n7": 1})
    memory.leave_out("n7", "hung", 60.0)
    assert memory.left_out == {"n7": (NOW + 60.0, "hung")}
    memory.clear()
    assert (memory.left_out, memory.history, memory.failures("n7")) == ({}, {}, 0)


def test_a_node_is_left_out_longer_each_time_that_ray_hangs_until_it_reserves() -> None:
    memory, now, lasted = PlacerMemory(), NOW, []
    for _ in range(6):
        memory.read(now, [], {})
        for _ in range(3):
            memory.ray_hung("n7", "hung")
        until, reason = memory.left_out["n7"]
        assert reason == "hung"
        lasted.append(until - now)
        now = until
    assert lasted == [5.0, 10.0, 20.0, 40.0, 60.0, 60.0]
    memory.ray_reserved("n7")
    memory.read(now, [], {})
    memory.ray_hung("n7", "hung")
    assert memory.left_out["n7"] == (now + 5.0, "hung")


def test_an_end_is_remembered_until_newer_answers_show_it() -> None:
    memory = PlacerMemory()
    memory.desktop_ended("d", "n7", NOW)
    memory.read(NOW + 60.0, [], {})
    assert memory.ended == {stray_subject("d", "n7"): NOW}
    memory.read(NOW + 61.0, [], {})
    assert memory.ended == {}


def test_a_desktop_that_is_not_its_nodes_own_is_new_once() -> None:
    memory = PlacerMemory()
    assert [memory.is_new_stray("d", "n7") for _ in range(2)] == [True, False]
    assert memory.is_new_stray("d", "n8")
    memory.clear()
    assert memory.is_new_stray("d", "n7")
