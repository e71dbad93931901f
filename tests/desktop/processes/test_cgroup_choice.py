from pathlib import PurePosixPath

import pytest

from deskhand.desktop.processes.cgroup_choice import CgroupState, Choice, choice, own_group

V1 = "12:memory:/docker/x\n1:name=systemd:/docker/x\n"
MOUNT = "41 31 0:38 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw\n"
OTHERS = "31 23 0:28 / /sys/fs rw - tmpfs tmpfs rw\n38 31 0:35 / /sys/fs/c rw - cgroup cgroup rw\n"
HERE = PurePosixPath("/g")
BOTH = frozenset({"cpu", "memory"})
NONE = frozenset[str]()


@pytest.mark.parametrize(
    ("cgroups", "mounts", "path"),
    [
        ("0::/a/b.service\n", MOUNT, "/sys/fs/cgroup/a/b.service"),
        (V1 + "0::/\n", OTHERS + MOUNT, "/sys/fs/cgroup"),
        ("0::/docker/x/y\n", MOUNT.replace(" / ", " /docker/x ", 1), "/sys/fs/cgroup/y"),
        ("0::/\n", MOUNT.replace("/sys/fs/cgroup", "/a\\040place\\134"), "/a place\\"),
    ],
)
def test_the_own_group_is_found(cgroups: str, mounts: str, path: str) -> None:
    assert own_group(cgroups, mounts) == PurePosixPath(path)


@pytest.mark.parametrize(
    ("cgroups", "mounts"),
    [
        ("", MOUNT),
        (V1, MOUNT),
        ("0::/\n", ""),
        ("0::/\n", OTHERS),
        ("0::/\n", "no mount - cgroup2 cgroup2 rw\n"),
        ("0::/elsewhere\n", MOUNT.replace(" / ", " /docker/x ", 1)),
        ("0::/../elsewhere\n", MOUNT),
    ],
)
def test_a_group_that_cannot_be_seen_is_none(cgroups: str, mounts: str) -> None:
    assert own_group(cgroups, mounts) is None


def test_without_a_group_that_can_be_written_there_are_the_limits_of_processes() -> None:
    assert choice(None).group is None
    refused = choice(CgroupState(HERE, writable=False, exclusive=True, available=BOTH))
    assert refused == Choice(None, reason="/g is not writable")
    assert refused.to_json(1024, 2.0) == {
        "by": "rlimit",
        "group": None,
        "memory": {"bytes": 1024, "by": "rlimit"},
        "cpus": {"count": 2.0, "by": "none"},
        "reason": "/g is not writable",
    }


@pytest.mark.parametrize(
    ("state", "chosen"),
    [
        (CgroupState(HERE, True, True, BOTH, NONE), Choice(HERE, BOTH, BOTH)),
        (CgroupState(HERE, True, False, BOTH, BOTH), Choice(HERE, NONE, BOTH)),
        (
            CgroupState(HERE, True, True, frozenset({"cpu", "io"}), frozenset({"io"})),
            Choice(HERE, frozenset({"cpu"}), frozenset({"cpu"}), "/g is not offered memory"),
        ),
        (
            CgroupState(HERE, True, False, BOTH, frozenset({"cpu"})),
            Choice(
                HERE,
                NONE,
                frozenset({"cpu"}),
                "/g cannot give memory: others are in it, or it is refused",
            ),
        ),
        (
            CgroupState(HERE, True, False, frozenset({"hugetlb"})),
            Choice(HERE, NONE, NONE, "/g is not offered cpu and memory"),
        ),
    ],
)
def test_a_group_limits_what_it_has_the_controllers_for(state: CgroupState, chosen: Choice) -> None:
    assert choice(state) == chosen


def test_the_limits_of_a_group_are_reported() -> None:
    body = Choice(HERE, NONE, BOTH).to_json(None, None)
    assert body == {
        "by": "cgroup",
        "group": "/g",
        "memory": {"bytes": None, "by": "none"},
        "cpus": {"count": None, "by": "none"},
        "reason": None,
    }
    limited = Choice(HERE, NONE, BOTH).to_json(1, 1.5)
    assert (limited["memory"]["by"], limited["cpus"]["by"]) == ("cgroup", "cgroup")
