from pathlib import Path

from deskhand.desktop.launch.desktop_group import DesktopGroup, hierarchy
from deskhand.desktop.launch.limits import DesktopLimits

LIMITS = DesktopLimits(300, 512, 64)


def tree(folder: Path, controllers: str) -> Path:
    """A directory that stands for the root of the hierarchy."""
    (folder / "cgroup.controllers").write_text(controllers)
    return folder


def test_a_desktop_gets_a_group_with_its_limits(tmp_path: Path) -> None:
    group = DesktopGroup("0123", tree(tmp_path, "cpu io memory pids\n"))
    assert group.make(LIMITS, (7,)) == ""
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+cpu +memory +pids"
    written = {path.name: path.read_text() for path in (tmp_path / "deskhand-0123").iterdir()}
    assert written == {
        "pids.max": "300",
        "memory.max": "512",
        "memory.swap.max": "0",
        "cpu.weight": "100",
        "cgroup.procs": "7",
    }


def test_without_its_controllers_nothing_is_made(tmp_path: Path) -> None:
    group = DesktopGroup("0123", tree(tmp_path, "hugetlb\n"))
    assert group.make(LIMITS, (7,)) == "cgroup v2 has no controller cpu and memory and pids here"
    assert not group.path.exists()


def test_without_a_hierarchy_the_reason_names_its_place(tmp_path: Path) -> None:
    assert str(tmp_path) in DesktopGroup("0123", tmp_path).make(LIMITS, ())


def test_a_refused_group_is_removed(tmp_path: Path) -> None:
    group = DesktopGroup("0123", tree(tmp_path, "cpu memory pids"))
    (tmp_path / "cgroup.subtree_control").mkdir()
    assert "Is a directory" in group.make(LIMITS, ())
    assert not group.path.exists()


def test_groups_are_stopped_and_killed_by_their_files(tmp_path: Path) -> None:
    group = DesktopGroup("0123", tree(tmp_path, "cpu memory pids"))
    group.make(LIMITS, ())
    assert group.freeze(frozen=True)
    assert (group.path / "cgroup.freeze").read_text() == "1"
    group.kill()
    assert (group.path / "cgroup.kill").read_text() == "1"
    assert not DesktopGroup("none", tmp_path).freeze(frozen=True)


def test_the_hierarchy_is_found_among_the_mounts(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("none /sys/fs/cgroup tmpfs rw 0 0\nnone /unified cgroup2 rw 0 0\n")
    assert hierarchy(mounts) == Path("/unified")
    mounts.write_text("none / ext4 rw 0 0\n")
    assert hierarchy(mounts) == Path("/sys/fs/cgroup")
