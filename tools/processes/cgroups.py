"""Keep what a command starts in a control group of its own: cgroup v2, kernel admin-guide.

The directory has to be delegated to this user, its controllers enabled for what is below it.
Nothing leaves a group by setsid or a double fork, so that a kill of the group reaches all.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

CPU_PERIOD = 100_000
"""Microseconds, the kernel's own choice."""


@dataclass(frozen=True)
class Cgroup:
    """One group, as a directory."""

    path: Path

    @classmethod
    def made(
        cls, parent: Path, pid: int, memory_bytes: int | None, cpus: float | None
    ) -> "Cgroup | None":
        """Make a group below ``parent`` with these limits and put a process into it.

        None where the system does not allow it; a controller that is not enabled limits nothing.
        """
        group = cls(parent / f"command-{pid}")
        try:
            (parent / "cgroup.procs").stat()
            group.path.mkdir()
        except OSError:
            return None
        if memory_bytes is not None:
            group.write("memory.max", str(memory_bytes))
            group.write("memory.swap.max", "0")
            # One process over the limit takes its whole command along, not half of it.
            group.write("memory.oom.group", "1")
        if cpus is not None:
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
