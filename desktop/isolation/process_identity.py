"""Identity of a process of this machine: a pid alone may belong to another process later."""

from pathlib import Path

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> str:
    """Return the id of this boot of the machine."""
    return BOOT_ID.read_text().strip()


def start_time(pid: int) -> int | None:
    """Return the start of a process in clock ticks after boot; ``None`` if there is none.

    It is field 22 of proc_pid_stat(5).
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name of the command is in parentheses, and may contain blanks and parentheses itself.
    state, *fields = stat.rpartition(")")[2].split()
    # A zombie has exited: only its parent has not waited for it yet.
    return None if state == "Z" else int(fields[18])
