"""Decisions about faults of the database that may pass: which errors are such, and when to retry.

The numbers are SQLite's primary result codes (https://www.sqlite.org/rescode.html) and Linux's
``errno`` values. An error without such a number is a defect of the program or of the file, and
retrying would not help.
"""

BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN, PROTOCOL = 5, 6, 8, 10, 13, 14, 15
"""Result codes of faults that may pass."""

PRIMARY = 0xFF
"""Bits of an extended result code that hold the primary one."""

DISK_ERRORS = frozenset({5, 27, 28, 30, 122})
"""``EIO``, ``EFBIG``, ``ENOSPC``, ``EROFS`` and ``EDQUOT``."""

FIRST_DELAY = 1.0
LONGEST_DELAY = 30.0
LOG_SECONDS = 60.0
"""Interval of the log lines about a fault that lasts."""


def may_pass(code: int | None) -> bool:
    """Return whether an error of SQLite may be gone at a later attempt; ``None`` has no code."""
    if code is None:
        return False
    known = {BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN, PROTOCOL}
    return code & PRIMARY in known


def is_lock(code: int | None) -> bool:
    """Return whether another connection holds the lock, so that the attempt took a time-out."""
    return code is not None and code & PRIMARY in {BUSY, LOCKED}


def is_disk_fault(code: int | None) -> bool:
    """Return whether an error of SQLite comes from the disk, for which more room may help."""
    return code is not None and code & PRIMARY in {IOERR, FULL, CANTOPEN}


def is_disk_error(number: int | None) -> bool:
    """Return whether an ``errno`` reports a fault of the disk that may pass."""
    return number in DISK_ERRORS


def retry_delay(attempts: int, first: float = FIRST_DELAY, longest: float = LONGEST_DELAY) -> float:
    """Return the seconds to wait after so many failed attempts: twice as long each time."""
    # A large exponent would overflow, long after the longest delay is reached.
    return min(first * 2.0 ** min(attempts - 1, 32), longest)


def is_log_due(logged_at: float | None, now: float) -> bool:
    """Return whether a fault that lasts must be logged; ``logged_at`` is the time of its line."""
    return logged_at is None or now - logged_at >= LOG_SECONDS
