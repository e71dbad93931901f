import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deskhand.desktop.freeze.command_group import CommandGroup
from deskhand.desktop.launch.desktop_group import DesktopGroup, hierarchy
from deskhand.desktop.launch.limits import DesktopLimits
from tests.system.services import PATIENCE, until

needs_cgroup = pytest.mark.skipif(
    not (hierarchy() / "cgroup.procs").exists(), reason="no cgroup v2 hierarchy is mounted"
)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes groups")

PROGRAM = """
import ctypes, sys, time
if sys.argv[1] == "program":
    ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
counted = open(sys.argv[2], "ab", buffering=0)
while True:
    counted.write(b".")
    time.sleep(0.001)
"""


def tree(folder: Path, processes: dict[int, str]) -> CommandGroup:
    """Return a group of a directory tree, with the value of NoNewPrivs of each process."""
    commands, beside, proc = (folder / name for name in ("commands", "services", "proc"))
    for path in (commands / "command-1", beside, proc):
        path.mkdir(parents=True)
    (commands / "cgroup.procs").write_text("0\n")
    (commands / "command-1" / "cgroup.procs").write_text("".join(f"{pid}\n" for pid in processes))
    (commands / "cgroup.freeze").write_text("0\n")
    (commands / "cgroup.events").write_text("populated 1\nfrozen 1\n")
    for pid, value in processes.items():
        (proc / str(pid)).mkdir()
        (proc / str(pid) / "status").write_text(f"Name:\tsh\nNoNewPrivs:\t{value}\nSeccomp:\t0\n")
    return CommandGroup(commands, beside, proc)


def test_a_group_is_stopped_and_continued_by_its_files(tmp_path: Path) -> None:
    group = tree(tmp_path, {7: "1", 8: "1"})
    assert not group.stopped
    assert group.members() == {7, 8}
    group.stop()
    assert group.stopped
    assert not (tmp_path / "services" / "cgroup.procs").exists()
    group.resume()
    assert not group.stopped


def test_a_process_that_is_no_program_yet_is_moved_out(tmp_path: Path) -> None:
    group = tree(tmp_path, {7: "1", 8: "0"})
    (tmp_path / "proc" / "7" / "status").unlink()
    group.stop(seconds=0.0)
    assert (tmp_path / "services" / "cgroup.procs").read_text() == "8"


def test_without_the_files_nothing_happens(tmp_path: Path) -> None:
    group = CommandGroup(tmp_path / "none", tmp_path)
    group.stop()
    group.resume()
    assert not group.stopped
    assert group.members() == frozenset()


def test_the_wait_ends_although_a_process_does_not_stop(tmp_path: Path) -> None:
    group = tree(tmp_path, {7: "1"})
    (tmp_path / "commands" / "cgroup.events").write_text("populated 1\nfrozen 0\n")
    group.stop(seconds=0.0)
    assert group.stopped


@contextmanager
def real_group() -> Iterator[tuple[DesktopGroup, CommandGroup]]:
    made = DesktopGroup(f"freeze-{os.getpid()}", controllers=())
    assert made.make(DesktopLimits(300, 512, 64), (), os.geteuid()) == ""
    try:
        yield made, CommandGroup(made.commands, made.services)
    finally:
        until(made.end, "a group that is removed")


@pytest.mark.root
@needs_cgroup
@needs_root
def test_no_signal_continues_a_process_of_a_real_group(tmp_path: Path) -> None:
    with real_group() as (made, group), started(tmp_path, "program") as (process, counted):
        (made.commands / "cgroup.procs").write_text(str(process.pid))
        group.stop()
        assert "frozen 1" in (made.commands / "cgroup.events").read_text()
        assert group.members() == {process.pid}
        size = counted.stat().st_size
        for _ in range(100):
            process.send_signal(signal.SIGCONT)
        assert counted.stat().st_size == size
        group.resume()
        until(lambda: counted.stat().st_size > size, "the process, which continues")
        group.stop()
        made.kill()
        assert process.wait(PATIENCE) == -signal.SIGKILL


@pytest.mark.root
@needs_cgroup
@needs_root
def test_a_start_in_a_real_group_goes_on_outside_of_it(tmp_path: Path) -> None:
    # A process that the test runner has marked cannot be one that starts.
    assert ctypes.CDLL(None).prctl(39, 0, 0, 0, 0) == 0
    with real_group() as (made, group), started(tmp_path, "start") as (process, counted):
        (made.commands / "cgroup.procs").write_text(str(process.pid))
        group.stop()
        size = counted.stat().st_size
        until(lambda: counted.stat().st_size > size, "the start, which goes on")
        assert group.members() == frozenset()
        assert str(process.pid) in (made.services / "cgroup.procs").read_text().split()


@contextmanager
def started(folder: Path, kind: str) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    counted = folder / "counted"
    with subprocess.Popen([sys.executable, "-c", PROGRAM, kind, str(counted)]) as process:
        try:
            until(lambda: counted.exists() and counted.stat().st_size, "the process")
            yield process, counted
        finally:
            process.kill()
