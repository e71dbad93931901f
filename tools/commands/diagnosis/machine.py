"""Findings about the machine: shared memory, clock, disk use, and who has the address. Pure."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from deskhand.tools.commands.output.amounts import age, size

from .finding import Finding

SMALLEST_SHARED_MEMORY = 256 * 1024 * 1024
"""Bytes; browsers crash on large pages in containers with 64 MiB, the default there."""
OLDEST_TIME = 1_760_000_000.0
"""Unix time before this program was written: the clock of the machine was never set."""
TOLERATED = 60.0


def shared_memory_finding(total: int | None) -> Finding:
    """Return the finding about ``/dev/shm`` of ``total`` bytes; ``None`` if it does not exist."""
    if total is None:
        return Finding("shared memory", "warn", "there is none", "mount a tmpfs as /dev/shm")
    if total < SMALLEST_SHARED_MEMORY:
        remedy = "browsers crash on large pages: give it more, as docker run --shm-size=1g"
        return Finding("shared memory", "warn", size(total), remedy)
    return Finding("shared memory", "ok", size(total))


def clock_finding(now: float, newest: float) -> Finding:
    """Return the finding about the clock; ``newest`` is the time of the newest file of the data."""
    shown = f"{datetime.fromtimestamp(now, UTC):%Y-%m-%d %H:%M:%S UTC}"
    remedy = "set the clock, as by timedatectl set-ntp true"
    if now < OLDEST_TIME:
        return Finding("clock", "fail", f"it shows {shown}", remedy)
    if newest > now + TOLERATED:
        detail = f"it is {age(newest - now)} behind the data"
        return Finding("clock", "warn", detail, remedy)
    return Finding("clock", "ok", shown)


def usage_finding(kinds: Mapping[str, int]) -> Finding:
    """Return the finding about the disk use of the data directory by kind, the largest first."""
    used = sorted(kinds.items(), key=lambda kind: -kind[1])
    shown = ", ".join(f"{name} {size(count)}" for name, count in used if count)
    return Finding("disk use", "ok", shown or "nothing is stored yet")


def address_finding(
    listen: str, free: bool, own: str | None, answers: Sequence[str] = ()
) -> Finding:
    """Return the finding about the address of the control plane.

    ``own`` is the address of the control plane of this data directory, if it runs. ``answers`` are
    the names of what answers at an address that is not free.
    """
    if own is not None:
        return Finding("address", "ok", f"this data directory's control plane runs at {own}")
    if free:
        return Finding("address", "ok", f"{listen} is free")
    other = "another Deskhand" if "deskhand" in answers else "another program"
    remedy = "the next free port is taken, or give --listen"
    return Finding("address", "warn", f"{listen} is used by {other}", remedy)
