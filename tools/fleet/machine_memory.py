"""Available memory of this machine."""

import psutil

NEEDED = 768 * 1024 * 1024
"""Bytes for one more desktop with a browser, beside what must stay free."""


def memory_left() -> bool:
    """Return whether this machine has memory for one more desktop."""
    return bool(psutil.virtual_memory().available >= NEEDED)
