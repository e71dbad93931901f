"""Which control group commands get, by what the system shows: cgroup v2, cgroups(7)."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

CONTROLLERS = frozenset({"cpu", "memory"})
"""Those that limit commands."""

Way = Literal["cgroup", "rlimit", "none"]

_ESCAPED = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class Ground:
    """A control group, as it was found."""

    path: PurePosixPath
    writable: bool
    alone: bool
    """Whether no process is in it but this service's own."""
    offered: frozenset[str] = frozenset()
    given: frozenset[str] = frozenset()
    """Controllers that the groups below it have already."""


@dataclass(frozen=True)
class Choice:
    """How commands are limited."""

    group: PurePosixPath | None
    """Below it every command gets a group of its own; None: there are none."""
    enable: frozenset[str] = frozenset()
    """Controllers to give to the groups below; for that no process may be left in this one."""
    given: frozenset[str] = frozenset()
    """Controllers that commands' groups have then."""
    reason: str = ""
    """Why it is no group, or one that cannot limit everything."""

    def to_json(self, memory_bytes: int | None, cpus: float | None) -> dict[str, Any]:
        """Return how a memory and a processor limit are kept, as it goes over the wire."""
        memory: Way = "cgroup" if "memory" in self.given else "rlimit"
        processors: Way = "cgroup" if "cpu" in self.given else "none"
        return {
            "by": "rlimit" if self.group is None else "cgroup",
            "group": None if self.group is None else str(self.group),
            "memory": {"bytes": memory_bytes, "by": "none" if memory_bytes is None else memory},
            "cpus": {"count": cpus, "by": "none" if cpus is None else processors},
            "reason": self.reason or None,
        }


def own_group(cgroups: str, mounts: str) -> PurePosixPath | None:
    """Return the directory of a process's group.

    ``cgroups`` and ``mounts`` are what /proc/PID/cgroup and /proc/PID/mountinfo say. None if there
    is no version 2 hierarchy, or the group is not in what is mounted of it.
    """
    own = next((line[3:] for line in cgroups.splitlines() if line.startswith("0::/")), None)
    for line in mounts.splitlines():
        fields, _, kind = line.partition(" - ")
        parts = fields.split(" ")
        if own is None or len(parts) < 6 or kind.split(" ")[0] != "cgroup2":
            continue
        root, point = (PurePosixPath(_ESCAPED.sub(_character, part)) for part in parts[3:5])
        if ".." not in PurePosixPath(own).parts and PurePosixPath(own).is_relative_to(root):
            return point / PurePosixPath(own).relative_to(root)
    return None


def choice(ground: Ground | None) -> Choice:
    """Decide; ``ground`` is the group that was named, or else the service's own."""
    if ground is None:
        return Choice(None, reason="no cgroup v2 hierarchy shows this service's own group")
    if not ground.writable:
        return Choice(None, reason=f"{ground.path} is not writable")
    missing = CONTROLLERS - ground.given
    enable = missing & ground.offered if ground.alone else frozenset[str]()
    lacking = " and ".join(sorted(missing - enable))
    reason = ""
    if missing & ground.offered and not ground.alone:
        reason = f"{ground.path} cannot give {lacking}: others are in it, or it is refused"
    elif lacking:
        reason = f"{ground.path} is not offered {lacking}"
    return Choice(ground.path, enable, CONTROLLERS & ground.given | enable, reason)


def _character(found: re.Match[str]) -> str:
    return chr(int(found[1], 8))
