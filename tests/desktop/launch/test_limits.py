from deskhand.desktop.launch.limits import (
    GIB,
    MIB,
    DesktopLimits,
    ProcessMemory,
    desktop_limits,
    interface_files,
    lacking,
    victim,
)


def test_a_desktop_gets_four_gib_or_half_of_the_machine() -> None:
    assert desktop_limits(32 * GIB, None, None, None) == DesktopLimits(2000, 4 * GIB, GIB)
    assert desktop_limits(2 * GIB, None, None, None).memory_bytes == GIB


def test_limits_can_be_given() -> None:
    assert desktop_limits(GIB, 300, 512, 64) == DesktopLimits(300, 512 * MIB, 64 * MIB)


def test_the_largest_process_is_killed_when_all_together_have_too_much() -> None:
    usages = [ProcessMemory(2, 300), ProcessMemory(3, 500), ProcessMemory(4, 400)]
    assert victim(usages, 1200) is None
    assert victim(usages, 1199) == 3


def test_what_the_desktop_needs_is_killed_last() -> None:
    assert victim([ProcessMemory(2, 900, spared=True), ProcessMemory(3, 1)], 100) == 3
    assert victim([ProcessMemory(2, 900, spared=True)], 100) == 2


def test_a_control_group_gets_all_limits() -> None:
    assert interface_files(DesktopLimits(300, 512, 64)) == {
        "pids.max": "300",
        "memory.max": "512",
        "memory.swap.max": "0",
        "cpu.weight": "100",
    }


def test_missing_controllers_are_named() -> None:
    assert lacking({"cpu", "memory", "pids", "io"}) == ""
    assert lacking({"hugetlb", "cpu"}) == "cgroup v2 has no controller memory and pids here"
