"""Keep what a command starts in a control group of its own: cgroup v2, kernel admin-guide.

The directory has to be delegated to this user. Nothing leaves a group by setsid or a double fork,
so that a kill of the group reaches all.
"""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from .cgroup_choice import Choice, Ground, choice, own_group

PROC = Path("/proc/self")
LEAF = "deskhand-service"
"""Where the service goes to leave its group to commands: only empty ones give controllers on."""

CPU_PERIOD = 100_000
"""Microseconds, the kernel's own choice."""


@dataclass(frozen=True)
class Cgroup:
    """One group, as a directory."""

    path: Path
    bounds_memory: bool = False
    """Whether it has a limit of memory."""

    @classmethod
    def made(
        cls, parent: Path, pid: int, memory_bytes: int | None, cpus: float | None
    ) -> "Cgroup | None":
        """Make a group below ``parent`` with these limits and put a process into it.

        None where the system does not allow it; a controller that is not enabled limits nothing.
        """
        given = _words(parent / "cgroup.subtree_control")
        bounded = memory_bytes is not None and "memory" in given
        group = cls(parent / f"command-{pid}", bounded)
        try:
            (parent / "cgroup.procs").stat()
            group.path.mkdir()
        except OSError:
            return None
        if bounded:
            group.write("memory.max", str(memory_bytes))
            group.write("memory.swap.max", "0")
            # One process over the limit takes its whole command along, not half of it.
            group.write("memory.oom.group", "1")
        if cpus is not None and "cpu" in given:
            group.write("cpu.max", f"{int(cpus * CPU_PERIOD)} {CPU_PERIOD}")
        if not group.write("cgroup.procs", str(pid)):
            group.remove()
            return None
        return group

    def kill(self) -> None:
        """Kill everything in it."""
        self.write("cgroup.kill", "1")

    def remove(self) -> bool:
        """Remove it; False as long as anything lives in it."""
        try:
            self.path.rmdir()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    def write(self, name: str, value: str) -> bool:
        """Write a file of the group; False if there is none, or it takes no such value."""
        with suppress(OSError):
            # In a control group nothing can be created: what the kernel did not make stays away.
            descriptor = os.open(self.path / name, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC)
            try:
                os.write(descriptor, value.encode())
            finally:
                os.close(descriptor)
            return True
        return False


def ground(named: Path | None, ours: Collection[int], proc: Path = PROC) -> Ground | None:
    """Look at a control group: the one named, else this process's own; None if there is none.

    ``ours`` are the processes of this service.
    """
    path = named or _own(proc)
    if path is None or not (path / "cgroup.procs").exists():
        return None
    inside = {int(word) for word in _words(path / "cgroup.procs")}
    return Ground(
        PurePosixPath(path),
        writable=os.access(path, os.W_OK) and os.access(path / "cgroup.procs", os.W_OK),
        alone=inside <= set(ours),
        offered=_words(path / "cgroup.controllers"),
        given=_words(path / "cgroup.subtree_control"),
    )


@contextmanager
def opened(named: Path | None, ours: Collection[int], proc: Path = PROC) -> Iterator[Choice]:
    """Have a group give its controllers to commands' groups; what was done is undone."""
    found = ground(named, ours, proc)
    chosen = choice(found)
    if found is None or chosen.group is None or not chosen.enable:
        yield chosen
        return
    group = Cgroup(Path(chosen.group))
    leaf = Cgroup(group.path / LEAF)
    inside = _words(group.path / "cgroup.procs")
    if inside:
        with suppress(OSError):
            leaf.path.mkdir()
        _move(inside, leaf)
    try:
        if group.write("cgroup.subtree_control", _each("+", chosen.enable)):
            yield chosen
        else:
            yield choice(replace(found, alone=False))
    finally:
        group.write("cgroup.subtree_control", _each("-", chosen.enable))
        if inside:
            _move(_words(leaf.path / "cgroup.procs"), group)
            leaf.remove()


def _own(proc: Path) -> Path | None:
    try:
        found = own_group((proc / "cgroup").read_text(), (proc / "mountinfo").read_text())
    except OSError:
        return None
    return None if found is None else Path(found)


def _words(file: Path) -> frozenset[str]:
    try:
        return frozenset(file.read_text().split())
    except OSError:
        return frozenset()


def _move(pids: Collection[str], group: Cgroup) -> None:
    for pid in pids:
        group.write("cgroup.procs", pid)


def _each(sign: str, controllers: Collection[str]) -> str:
    return " ".join(f"{sign}{name}" for name in sorted(controllers))
