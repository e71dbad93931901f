from deskhand.tools.cluster.gate.room import MIB, MachineRoom, RoomLimits, room_problem

LIMITS = RoomLimits(places=2)
ROOMY = MachineRoom(8000 * MIB, 90_000 * MIB, "/run")


def test_a_node_with_places_memory_and_disk_takes_a_desktop() -> None:
    assert room_problem(LIMITS, ROOMY, 1, 0) == ""


def test_desktops_that_start_take_places_and_memory() -> None:
    assert room_problem(LIMITS, ROOMY, 1, 1) == "no place: 2 of 2 desktops run or start"
    small = MachineRoom(700 * MIB, 90_000 * MIB, "/run")
    assert room_problem(LIMITS, small, 0, 0) == ""
    assert room_problem(LIMITS, small, 0, 1) == "no memory: 444 MiB are available, 512 are needed"


def test_a_full_disk_is_named() -> None:
    full = MachineRoom(8000 * MIB, 3 * MIB, "/data")
    assert room_problem(LIMITS, full, 0, 0) == (
        "disk full: 3 MiB are free in /data, 1024 are needed"
    )
