"""Control groups of commands: cgroup v2 (kernel admin-guide, cgroup-v2.rst).

The directory has to be delegated to this user. Neither setsid(2) nor a double fork leaves a group,
so ``cgroup.kill`` reaches every descendant of a command.
"""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from .cgroup_choice import CgroupState, Choice, choice, own_group

PROC = Path("/proc/self")
LEAF = "deskhand-service"
"""Child group that the service moves to: only a group without processes can enable controllers."""

CPU_PERIOD = 100_000
"""Period of cpu.max in microseconds; the kernel's default."""


@dataclass(frozen=True)
class Cgroup:
    """One group, as a directory."""

    path: Path
    bounds_memory: bool = False
    """True if it has a memory limit."""

    @classmethod
    def made(
        cls, parent: Path, name: str, memory_bytes: int | None, cpus: float | None
    ) -> "Cgroup | None":
        """Make a group below ``parent`` with these limits; a process enters it by its start.

        None where the system does not allow it; a controller that is not enabled limits nothing.
        """
        enabled = _read_words(parent / "cgroup.subtree_control")
        bounded = memory_bytes is not None and "memory" in enabled
        group = cls(parent / name, bounded)
        try:
            # In an ordinary directory, mkdir would succeed and leave an empty directory behind.
            (parent / "cgroup.procs").stat()
            group.path.mkdir()
        except OSError:
            return None
        if bounded:
            group.write("memory.max", str(memory_bytes))
            # With swap, memory.max would slow the command down instead of ending it.
            group.write("memory.swap.max", "0")
            # The OOM killer ends the whole command, so that no half of it keeps running.
            group.write("memory.oom.group", "1")
        if cpus is not None and "cpu" in enabled:
            group.write("cpu.max", f"{int(cpus * CPU_PERIOD)} {CPU_PERIOD}")
        return group

    def kill(self) -> None:
        """Kill all processes of the group."""
        self.write("cgroup.kill", "1")

    def remove(self) -> bool:
        """Remove the group; return False while it contains processes."""
        try:
            self.path.rmdir()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    def write(self, name: str, value: str) -> bool:
        """Write an interface file; return False if it is missing or refuses the value."""
        with suppress(OSError):
            # O_CREAT cannot create a file in cgroupfs, so a missing interface file is an error.
            descriptor = os.open(self.path / name, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC)
            try:
                os.write(descriptor, value.encode())
            finally:
                os.close(descriptor)
            return True
        return False


def cgroup_state(
    configured: Path | None, ours: Collection[int], proc: Path = PROC
) -> CgroupState | None:
    """Read the state of the configured group, else of this process's own; None if none exists.

    ``ours`` are the processes of this service.
    """
    path = configured or _own(proc)
    if path is None or not (path / "cgroup.procs").exists():
        return None
    member_pids = {int(word) for word in _read_words(path / "cgroup.procs")}
    return CgroupState(
        PurePosixPath(path),
        writable=os.access(path, os.W_OK) and os.access(path / "cgroup.procs", os.W_OK),
        exclusive=member_pids <= set(ours),
        available=_read_words(path / "cgroup.controllers"),
        enabled=_read_words(path / "cgroup.subtree_control"),
    )


@contextmanager
def opened(configured: Path | None, ours: Collection[int], proc: Path = PROC) -> Iterator[Choice]:
    """Enable the controllers for groups of commands while the body runs."""
    found = cgroup_state(configured, ours, proc)
    chosen = choice(found)
    if found is None or chosen.group is None or not chosen.enable:
        yield chosen
        return
    group = Cgroup(Path(chosen.group))
    leaf = Cgroup(group.path / LEAF)
    # The processes have to leave the group before it can enable controllers for its children ("no
    # internal processes" rule of cgroup v2).
    member_pids = _read_words(group.path / "cgroup.procs")
    if member_pids:
        with suppress(OSError):
            leaf.path.mkdir()
        _move(member_pids, leaf)
    try:
        if group.write("cgroup.subtree_control", _each("+", chosen.enable)):
            yield chosen
        else:
            # The kernel refuses if another process has entered the group since, so the group counts
            # as shared.
            yield choice(replace(found, exclusive=False))
    finally:
        # By the same rule, the controllers are disabled before the processes return.
        group.write("cgroup.subtree_control", _each("-", chosen.enable))
        if member_pids:
            _move(_read_words(leaf.path / "cgroup.procs"), group)
            leaf.remove()


def _own(proc: Path) -> Path | None:
    try:
        found = own_group((proc / "cgroup").read_text(), (proc / "mountinfo").read_text())
    except OSError:
        return None
    return None if found is None else Path(found)


def _read_words(file: Path) -> frozenset[str]:
    try:
        return frozenset(file.read_text().split())
    except OSError:
        return frozenset()


def _move(pids: Collection[str], group: Cgroup) -> None:
    for pid in pids:
        group.write("cgroup.procs", pid)


def _each(sign: str, controllers: Collection[str]) -> str:
    return " ".join(f"{sign}{name}" for name in sorted(controllers))
