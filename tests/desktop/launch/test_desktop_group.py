import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from deskhand.desktop.launch.desktop_group import CpuShare, DesktopGroup, hierarchy
from deskhand.desktop.launch.limits import DesktopLimits
from tests.system.services import PATIENCE, until

LIMITS = DesktopLimits(300, 512, 64)
OWNER = 65_534
REAL = hierarchy() / "cgroup.procs"
LOOP = "print('started', flush=True)\nwhile True: pass"
OWN = """
import os, pathlib
input()
os.setgroups([])
os.setgid({gid})
os.setuid({uid})
group = pathlib.Path("{group}")
own = group / "commands" / "command-1"
own.mkdir()
(own / "cgroup.procs").write_text(str(os.getpid()))
print("moved" if own.name in pathlib.Path("/proc/self/cgroup").read_text() else "not moved")
try:
    (group / "other").mkdir()
except PermissionError:
    print("refused")
"""


def tree(folder: Path, controllers: str) -> Path:
    """A directory that stands for the root of the hierarchy."""
    (folder / "cgroup.controllers").write_text(controllers)
    return folder


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def test_a_desktop_gets_a_group_with_its_limits(tmp_path: Path) -> None:
    group = DesktopGroup("0123", tree(tmp_path, "cpu io memory pids\n"))
    assert group.make(LIMITS, (7,), os.getuid()) == ""
    enabled = {"cgroup.subtree_control": "+cpu +memory +pids"}
    assert contents(tmp_path).items() >= enabled.items()
    assert contents(group.path) == {
        "pids.max": "300",
        "memory.max": "512",
        "memory.swap.max": "0",
        "cpu.weight": "100",
        **enabled,
    }
    assert contents(group.path / "services") == {"cgroup.procs": "7"}
    assert contents(group.commands) == contents(group.applications) == enabled


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root delegates")
def test_only_the_group_of_commands_is_delegated(tmp_path: Path) -> None:
    group = DesktopGroup("0123", tree(tmp_path, "cpu memory pids"))
    group.path.mkdir()
    (group.path / "cgroup.procs").touch()
    group.make(LIMITS, (), OWNER)
    owned = {path.relative_to(group.path) for path in group.path.rglob("*") if is_owned(path)}
    assert {str(path) for path in owned} == {
        *("cgroup.procs", "commands", "commands/cgroup.subtree_control"),
        *("applications", "applications/cgroup.subtree_control"),
    }
    assert not is_owned(group.path)


def is_owned(path: Path) -> bool:
    return path.stat().st_uid == OWNER


@pytest.mark.root
@pytest.mark.skipif(not REAL.exists(), reason="no cgroup v2 hierarchy is mounted")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes groups")
def test_a_real_group_is_stopped_and_killed_and_removed() -> None:
    group = DesktopGroup(f"test-{os.getpid()}", controllers=())
    with subprocess.Popen([sys.executable, "-c", LOOP], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"started\n"
            assert group.make(LIMITS, (process.pid,), OWNER) == ""
            events = group.path / "cgroup.events"
            assert group.freeze(frozen=True)
            until(lambda: "frozen 1" in events.read_text(), "a group that is stopped")
            assert group.freeze(frozen=False)
            until(lambda: "frozen 0" in events.read_text(), "a group that continues")
            group.end()
            assert process.wait(PATIENCE) == -signal.SIGKILL
            until(group.end, "a group that is removed")
        finally:
            process.kill()
            group.end()


@pytest.mark.root
@pytest.mark.skipif(not REAL.exists(), reason="no cgroup v2 hierarchy is mounted")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes groups")
def test_the_owner_makes_groups_of_commands_in_a_real_group() -> None:
    group = DesktopGroup(f"owned-{os.getpid()}", controllers=())
    script = OWN.format(gid=OWNER, uid=OWNER, group=group.path)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            assert group.make(LIMITS, (process.pid,), OWNER) == ""
            answer, _ = process.communicate(b"go\n", PATIENCE)
            assert answer.split() == [b"moved", b"refused"]
        finally:
            process.kill()
            group.end()
            until(group.end, "a group that is removed")


def test_without_its_controllers_nothing_is_made(tmp_path: Path) -> None:
    group = DesktopGroup("0123", tree(tmp_path, "hugetlb\n"))
    assert group.make(LIMITS, (7,), 0) == "cgroup v2 has no controller cpu and memory and pids here"
    assert not group.path.exists()


def test_without_a_hierarchy_the_reason_names_its_place(tmp_path: Path) -> None:
    assert str(tmp_path) in DesktopGroup("0123", tmp_path).make(LIMITS, (), os.getuid())


def test_a_refused_group_is_removed(tmp_path: Path) -> None:
    group = DesktopGroup("0123", tree(tmp_path, "cpu memory pids"))
    (tmp_path / "cgroup.subtree_control").mkdir()
    assert "Is a directory" in group.make(LIMITS, (), os.getuid())
    assert not group.path.exists()


def test_groups_are_stopped_and_killed_by_their_files(tmp_path: Path) -> None:
    group = DesktopGroup("0123", tree(tmp_path, "cpu memory pids"))
    group.make(LIMITS, (), os.getuid())
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


def test_the_share_of_the_processors_is_given_by_version_1(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        f"none /memory cgroup rw,memory 0 0\nnone {tmp_path} cgroup rw,cpuacct,cpu 0 0\n"
    )
    share = CpuShare("0123", mounts)
    assert share.make(200, (7,))
    assert contents(tmp_path / "deskhand-0123") == {"cpu.shares": "2048", "cgroup.procs": "7"}
    assert not CpuShare("../none/0123", mounts).make(200, (7,))
    mounts.write_text("none /unified cgroup2 rw 0 0\n")
    assert not CpuShare("0123", mounts).make(200, (7,))
    CpuShare("0123", mounts).remove()
