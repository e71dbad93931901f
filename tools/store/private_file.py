"""Files that only their owner reads."""

import os
from pathlib import Path


def write_private(file: Path, text: str) -> None:
    """Write a file of mode 0600, whole or not at all."""
    fresh = file.with_name(f"{file.name}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write(text)
    fresh.replace(file)
