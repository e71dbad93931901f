"""Choice of the control group for commands from the state of the system: cgroup v2, cgroups(7)."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

CONTROLLERS = frozenset({"cpu", "memory"})
"""Controllers that limit commands."""

Way = Literal["cgroup", "rlimit", "none"]

_ESCAPED = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class CgroupState:
    """State of a control group."""

    path: PurePosixPath
    writable: bool
    exclusive: bool
    """True if it contains no processes but those of this service."""
    available: frozenset[str] = frozenset()
    enabled: frozenset[str] = frozenset()
    """Controllers in its ``cgroup.subtree_control``, which its child groups have."""


@dataclass(frozen=True)
class Choice:
    """Control group and controllers that limit commands."""

    group: PurePosixPath | None
    """Parent of one group for each command; None for no groups."""
    enable: frozenset[str] = frozenset()
    """Controllers to enable for child groups. The kernel refuses while a process is in the group
    itself ("no internal processes" rule)."""
    enabled: frozenset[str] = frozenset()
    """Controllers that the groups of commands have then."""
    reason: str = ""
    """Reason for no group, or for missing controllers."""

    def to_json(self, memory_bytes: int | None, cpus: float | None) -> dict[str, Any]:
        """Return the JSON that describes how the limits are enforced."""
        memory: Way = "cgroup" if "memory" in self.enabled else "rlimit"
        processors: Way = "cgroup" if "cpu" in self.enabled else "none"
        return {
            "by": "rlimit" if self.group is None else "cgroup",
            "group": None if self.group is None else str(self.group),
            "memory": {"bytes": memory_bytes, "by": "none" if memory_bytes is None else memory},
            "cpus": {"count": cpus, "by": "none" if cpus is None else processors},
            "reason": self.reason or None,
        }


def own_group(cgroups: str, mounts: str) -> PurePosixPath | None:
    """Return the directory of a process's group.

    ``cgroups`` and ``mounts`` are the contents of /proc/PID/cgroup and /proc/PID/mountinfo. None
    if there is no version 2 hierarchy, or if the mounted part does not contain the group.
    """
    # Version 2 has hierarchy id 0 and an empty list of controllers (cgroups(7)).
    own = next((line[3:] for line in cgroups.splitlines() if line.startswith("0::/")), None)
    for line in mounts.splitlines():
        fields, _, kind = line.partition(" - ")
        parts = fields.split(" ")
        if own is None or len(parts) < 6 or kind.split(" ")[0] != "cgroup2":
            continue
        # Root and mount point are fields 4 and 5 (proc(5)); blanks in them are octal escapes.
        root, point = (PurePosixPath(_ESCAPED.sub(_character, part)) for part in parts[3:5])
        # ".." stands in the path of a group outside of the cgroup namespace (cgroup_namespaces(7)).
        if ".." not in PurePosixPath(own).parts and PurePosixPath(own).is_relative_to(root):
            return point / PurePosixPath(own).relative_to(root)
    return None


def choice(state: CgroupState | None) -> Choice:
    """Return the choice for a group: the configured one, or else the service's own."""
    if state is None:
        return Choice(None, reason="no cgroup v2 hierarchy shows this service's own group")
    if not state.writable:
        return Choice(None, reason=f"{state.path} is not writable")
    missing = CONTROLLERS - state.enabled
    enable = missing & state.available if state.exclusive else frozenset[str]()
    lacking = " and ".join(sorted(missing - enable))
    reason = ""
    if missing & state.available and not state.exclusive:
        reason = f"{state.path} cannot give {lacking}: others are in it, or it is refused"
    elif lacking:
        reason = f"{state.path} is not offered {lacking}"
    return Choice(state.path, enable, CONTROLLERS & state.enabled | enable, reason)


def _character(found: re.Match[str]) -> str:
    return chr(int(found[1], 8))
