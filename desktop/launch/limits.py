"""Limits of one desktop as a whole: processes, memory, share of the processors, temporary files."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

MIB = 1 << 20
GIB = 1 << 30
MOST_PROCESSES = 2000
MOST_MEMORY = 4 * GIB
TEMPORARY_BYTES = GIB
CPU_WEIGHT = 100
"""The kernel's default (cgroup-v2.rst, cpu.weight): all desktops get the same share."""

CONTROLLERS = frozenset({"cpu", "memory", "pids"})
"""Controllers that a control group needs to enforce all limits."""


class DesktopLimits(NamedTuple):
    """What all processes of one desktop may take together."""

    processes: int
    """Threads count too, as in RLIMIT_NPROC and pids.max."""
    memory_bytes: int
    temporary_bytes: int
    """Size of ``/tmp``, and of ``/dev/shm``."""
    cpu_weight: int = CPU_WEIGHT


class ProcessMemory(NamedTuple):
    """Memory of one process in bytes; one that is spared is chosen last."""

    pid: int
    bytes: int
    spared: bool = False


class GivenLimits(NamedTuple):
    """The limits as an operator gives them; None and 0 stand for the default."""

    processes: int | None = None
    memory_mib: int | None = None
    temporary_mib: int | None = None
    cpu_weight: int | None = None


NONE_GIVEN = GivenLimits()


def desktop_limits(machine_bytes: int, given: GivenLimits = NONE_GIVEN) -> DesktopLimits:
    """Return the limits; those that are not given have their defaults.

    ``machine_bytes`` is the memory of the machine, of which one desktop gets half by default.
    """
    return DesktopLimits(
        given.processes or MOST_PROCESSES,
        (given.memory_mib or 0) * MIB or min(MOST_MEMORY, machine_bytes // 2),
        (given.temporary_mib or 0) * MIB or TEMPORARY_BYTES,
        given.cpu_weight or CPU_WEIGHT,
    )


def limit_options(given: GivenLimits) -> tuple[str, ...]:
    """Return the options of ``deskhand desktop`` for the limits that are given."""
    names = ("--desktop-processes", "--desktop-memory", "--desktop-tmp", "--desktop-cpu-weight")
    pairs = zip(names, given, strict=True)
    return tuple(text for name, value in pairs if value for text in (name, str(value)))


def exceeded(usages: Sequence[ProcessMemory], memory_bytes: int) -> bool:
    """Return True if the processes have more memory together than the limit."""
    return sum(one.bytes for one in usages) > memory_bytes


def victim(usages: Sequence[ProcessMemory], memory_bytes: int) -> int | None:
    """Return the process to kill: the largest one if the limit is exceeded, else None."""
    if not exceeded(usages, memory_bytes):
        return None
    return max(usages, key=lambda one: (not one.spared, one.bytes)).pid


def interface_files(
    limits: DesktopLimits, controllers: Collection[str] = CONTROLLERS
) -> Mapping[str, str]:
    """Return the interface files of a control group (v2) with their values, by its controllers."""
    files = {
        "pids.max": str(limits.processes),
        "memory.max": str(limits.memory_bytes),
        # With swap, memory.max would slow the desktop down instead of ending its largest process.
        "memory.swap.max": "0",
        "cpu.weight": str(limits.cpu_weight),
    }
    return {name: files[name] for name in files if name.partition(".")[0] in controllers}


def cpu_shares(weight: int) -> int:
    """Return ``cpu.shares`` of version 1 for a weight: both have a default, 1024 and 100."""
    return max(2, weight * 1024 // CPU_WEIGHT)


def lacking(available: Collection[str], needed: Collection[str] = CONTROLLERS) -> str:
    """Return why a hierarchy with these controllers enforces no limits, empty if it does."""
    missing = sorted(set(needed) - set(available))
    return f"cgroup v2 has no controller {' and '.join(missing)} here" if missing else ""
