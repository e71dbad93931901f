"""Control group of one desktop: cgroup v2 (kernel admin-guide, cgroup-v2.rst)."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from .limits import CONTROLLERS, DesktopLimits, interface_files, lacking

MOUNTS = Path("/proc/self/mounts")


def hierarchy(mounts: Path = MOUNTS) -> Path:
    """Return where the hierarchy is mounted; its usual place if it is not."""
    for line in mounts.read_text().splitlines():
        _, point, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(point)
    return Path("/sys/fs/cgroup")


class DesktopGroup:
    """The group of one desktop below the root of the hierarchy."""

    def __init__(self, instance: str, root: Path | None = None) -> None:
        self._root = root or hierarchy()
        self.path = self._root / f"deskhand-{instance}"

    def make(self, limits: DesktopLimits, members: Iterable[int]) -> str:
        """Make the group and move processes into it; return why it cannot be, or an empty text."""
        controllers = self._root / "cgroup.controllers"
        try:
            available = controllers.read_text().split()
        except OSError:
            return f"no cgroup v2 hierarchy is mounted at {self._root}"
        if reason := lacking(available):
            return reason
        try:
            _write(self._root / "cgroup.subtree_control", " ".join(f"+{c}" for c in _sorted()))
            self.path.mkdir(exist_ok=True)
            for name, value in interface_files(limits).items():
                _write(self.path / name, value)
            for pid in members:
                _write(self.path / "cgroup.procs", str(pid))
        except OSError as error:
            self.remove()
            return str(error)
        return ""

    def kill(self) -> None:
        """Kill all processes of the group."""
        with suppress(OSError):
            _write(self.path / "cgroup.kill", "1")

    def freeze(self, *, frozen: bool) -> bool:
        """Stop all processes of the group, or let them continue; return False if refused."""
        try:
            _write(self.path / "cgroup.freeze", "1" if frozen else "0")
        except OSError:
            return False
        return True

    def remove(self) -> None:
        """Remove the group if it exists and has no processes."""
        with suppress(OSError):
            self.path.rmdir()


def _sorted() -> list[str]:
    return sorted(CONTROLLERS)


def _write(file: Path, value: str) -> None:
    # O_CREAT cannot create a file in cgroupfs, so a missing interface file is an error there.
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, value.encode())
    finally:
        os.close(descriptor)
