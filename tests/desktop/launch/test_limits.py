from deskhand.desktop.launch.limits import (
    GIB,
    MIB,
    DesktopLimits,
    GivenLimits,
    ProcessMemory,
    cpu_shares,
    desktop_limits,
    interface_files,
    lacking,
    limit_options,
    victim,
)


def test_a_desktop_gets_four_gib_or_half_of_the_machine() -> None:
    assert desktop_limits(32 * GIB) == DesktopLimits(2000, 4 * GIB, GIB)
    assert desktop_limits(2 * GIB).memory_bytes == GIB


def test_limits_can_be_given() -> None:
    given = GivenLimits(300, 512, 64, 50)
    assert desktop_limits(GIB, given) == DesktopLimits(300, 512 * MIB, 64 * MIB, 50)
    assert desktop_limits(GIB, GivenLimits(0, 0, 0, 0)) == desktop_limits(GIB)


def test_given_limits_are_options_of_a_desktop() -> None:
    assert limit_options(GivenLimits()) == ()
    assert limit_options(GivenLimits(memory_mib=512, cpu_weight=0)) == ("--desktop-memory", "512")
    found = limit_options(GivenLimits(1, 2, 3, 4))
    assert found[::2] == (
        *("--desktop-processes", "--desktop-memory", "--desktop-tmp", "--desktop-cpu-weight"),
    )
    assert found[1::2] == ("1", "2", "3", "4")


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


def test_only_files_of_the_controllers_are_written() -> None:
    assert interface_files(DesktopLimits(300, 512, 64), {"pids"}) == {"pids.max": "300"}


def test_a_weight_is_a_share_of_version_1() -> None:
    assert [cpu_shares(weight) for weight in (100, 1, 10_000)] == [1024, 10, 102_400]


def test_missing_controllers_are_named() -> None:
    assert lacking({"cpu", "memory", "pids", "io"}) == ""
    assert lacking({"hugetlb", "cpu"}) == "cgroup v2 has no controller memory and pids here"
    assert lacking({"hugetlb"}, ()) == ""
