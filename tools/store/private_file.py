"""Files that only their owner can read."""

import os
from pathlib import Path


def write_private(file: Path, text: str) -> None:
    """Write a file of mode 0600 atomically: a reader finds the old content or the new one."""
    # The mode is given to ``open``: with a later ``chmod`` the content would be readable for a
    # moment.
    fresh = file.with_name(f"{file.name}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            out.write(text)
        fresh.replace(file)
    except BaseException:
        # On a full disk there is a part of it.
        fresh.unlink(missing_ok=True)
        raise
