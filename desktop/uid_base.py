"""The setting ``uid_base``: where the ids of the users of root's desktops begin. Pure."""

DEFAULT_UID_BASE = 2_000_000_000
"""In a range that no distribution assigns (systemd, UIDS-GIDS)."""

UID_STEP = 100_000
"""Bases are multiples of it, so that the ids of two bases never overlap."""

LARGEST_UID_BASE = 2_147_400_000
"""Ids of 2^31 and more are negative numbers for some programs and file systems."""


def uid_base_problem(base: int) -> str:
    """Return why a number cannot be the base; empty if it can."""
    if UID_STEP <= base <= LARGEST_UID_BASE and base % UID_STEP == 0:
        return ""
    return f"must be a multiple of {UID_STEP} from {UID_STEP} to {LARGEST_UID_BASE}, not {base}"
