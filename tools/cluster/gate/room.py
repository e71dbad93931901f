"""Room of a node for one more desktop. Pure."""

from dataclasses import dataclass

MIB = 1024 * 1024
DESKTOP_MIB = 256
"""Memory that a desktop which is starting will take, with a small application."""


@dataclass(frozen=True)
class RoomLimits:
    """What a node needs to take a further desktop."""

    places: int
    memory_mib: int = 512
    """Available memory, beside what desktops that are starting will take."""
    disk_mib: int = 1024
    """Free space of each disk that a desktop writes to."""


@dataclass(frozen=True)
class MachineRoom:
    """What a machine has."""

    memory: int
    """Available memory in bytes, as in ``MemAvailable`` of proc_meminfo(5)."""
    disk: int
    """Bytes that are free on the fullest disk."""
    folder: str
    """A folder on that disk."""


def room_problem(limits: RoomLimits, machine: MachineRoom, running: int, starting: int) -> str:
    """Return why a node takes no further desktop; empty if it does."""
    taken = running + starting
    if taken >= limits.places:
        return f"no place: {taken} of {limits.places} desktops run or start"
    memory = machine.memory // MIB - starting * DESKTOP_MIB
    if memory < limits.memory_mib:
        return f"no memory: {max(0, memory)} MiB are available, {limits.memory_mib} are needed"
    disk = machine.disk // MIB
    if disk < limits.disk_mib:
        needed = f"{limits.disk_mib} are needed"
        return f"disk full: {disk} MiB are free in {machine.folder}, {needed}"
    return ""
