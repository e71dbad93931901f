"""Control group of one desktop: cgroup v2 (kernel admin-guide, cgroup-v2.rst).

    deskhand-INSTANCE/     limits of the whole desktop, written by root alone
        services/          init, the service, and what it starts
        commands/          one group below it for each command; the service's user makes them
        applications/      the same for programs that the service launches

Without the controllers there are no limits, and commands are in ``commands`` itself. In both cases
``commands`` is stopped as a whole while a person is in private (`freeze.command_group`).

Processes are only in leaves, because a group with controllers for its children may have none itself
("no internal processes" rule). To move a process from one leaf to another, the service's user may
also write ``cgroup.procs`` of the common ancestor, but not its limits ("delegation containment").
"""

import os
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from .limits import CONTROLLERS, DesktopLimits, cpu_shares, interface_files, lacking

MOUNTS = Path("/proc/self/mounts")
SERVICES = "services"
COMMANDS = "commands"
APPLICATIONS = "applications"
DELEGATED = ("cgroup.procs", "cgroup.subtree_control", "cgroup.threads")
"""Interface files that the user of a delegated group may write, cgroup-v2.rst, "Delegation"."""


def hierarchy(mounts: Path = MOUNTS) -> Path:
    """Return where the hierarchy is mounted; its usual place if it is not."""
    for line in mounts.read_text().splitlines():
        _, point, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(point)
    return Path("/sys/fs/cgroup")


class DesktopGroup:
    """The group of one desktop below the root of the hierarchy."""

    def __init__(
        self,
        instance: str,
        root: Path | None = None,
        controllers: Collection[str] = CONTROLLERS,
    ) -> None:
        """``controllers`` are those that it needs."""
        self._root = root or hierarchy()
        self._controllers = sorted(controllers)
        self.path = self._root / f"deskhand-{instance}"

    @property
    def commands(self) -> Path:
        """The group below which the groups of commands are."""
        return self.path / COMMANDS

    @property
    def applications(self) -> Path:
        """The group below which the groups of launched programs are."""
        return self.path / APPLICATIONS

    @property
    def services(self) -> Path:
        """The group of all other processes."""
        return self.path / SERVICES

    def make(self, limits: DesktopLimits, members: Iterable[int], owner: int) -> str:
        """Make the group, move processes into it, and delegate the group of commands to a user.

        Return why it cannot be made, or an empty text.
        """
        if reason := self.lacking():
            return reason
        try:
            self._make(limits, members, owner)
        except OSError as error:
            self.remove()
            return str(error)
        return ""

    def lacking(self) -> str:
        """Return what the hierarchy lacks for such a group, or an empty text."""
        try:
            available = (self._root / "cgroup.controllers").read_text().split()
        except OSError:
            return f"no cgroup v2 hierarchy is mounted at {self._root}"
        return lacking(available, self._controllers)

    def _make(self, limits: DesktopLimits, members: Iterable[int], owner: int) -> None:
        self._enable(self._root)
        delegated = (self.commands, self.applications)
        for folder in (self.path, self.services, *delegated):
            folder.mkdir(exist_ok=True)
        for name, value in interface_files(limits, self._controllers).items():
            _write(self.path / name, value)
        for pid in members:
            _write(self.services / "cgroup.procs", str(pid))
        # Only now: a group with processes of its own enables no controllers.
        self._enable(self.path)
        files = [self.path / "cgroup.procs"]
        for folder in delegated:
            self._enable(folder)
            os.chown(folder, owner, -1)
            files += (folder / name for name in DELEGATED)
        for file in files:
            # Kernels differ in the files that they have.
            with suppress(FileNotFoundError):
                os.chown(file, owner, -1)

    def _enable(self, group: Path) -> None:
        if self._controllers:
            text = " ".join(f"+{name}" for name in self._controllers)
            _write(group / "cgroup.subtree_control", text)

    def kill(self) -> None:
        """Kill all processes of the group."""
        with suppress(OSError):
            _write(self.path / "cgroup.kill", "1")

    def end(self) -> bool:
        """Kill all processes of the group and remove it; return True when it is gone."""
        self.kill()
        self.remove()
        return not self.path.exists()

    def freeze(self, *, frozen: bool) -> bool:
        """Stop all processes of the group, or let them continue; return False if refused."""
        try:
            _write(self.path / "cgroup.freeze", "1" if frozen else "0")
        except OSError:
            return False
        return True

    def remove(self) -> None:
        """Remove the group, and those below it, as far as they have no processes."""
        # Interface files cannot be removed, and do not keep a group from being removed.
        for folder, _, _ in os.walk(self.path, topdown=False):
            with suppress(OSError):
                Path(folder).rmdir()


class CpuShare:
    """The group of one desktop in the hierarchy of version 1 that has the controller cpu.

    Without any group a desktop takes what it wants: with autogroups (sched(7)) each session has the
    same share, and a program can make as many sessions as processes.
    """

    def __init__(self, instance: str, mounts: Path = MOUNTS) -> None:
        root = _cpu_hierarchy(mounts)
        self.path = None if root is None else root / f"deskhand-{instance}"

    def make(self, weight: int, members: Iterable[int]) -> bool:
        """Make the group and move processes into it; return False where that is impossible."""
        if self.path is None:
            return False
        try:
            self.path.mkdir(exist_ok=True)
            _write(self.path / "cpu.shares", str(cpu_shares(weight)))
            for pid in members:
                _write(self.path / "cgroup.procs", str(pid))
        except OSError:
            self.remove()
            return False
        return True

    def remove(self) -> None:
        """Remove the group, if it exists and has no processes."""
        if self.path is not None:
            with suppress(OSError):
                self.path.rmdir()


def _cpu_hierarchy(mounts: Path) -> Path | None:
    for line in mounts.read_text().splitlines():
        _, point, kind, options, *_ = line.split()
        if kind == "cgroup" and "cpu" in options.split(","):
            return Path(point)
    return None


def _write(file: Path, value: str) -> None:
    # O_CREAT cannot create a file in cgroupfs, so a missing interface file is an error there.
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, value.encode())
    finally:
        os.close(descriptor)
