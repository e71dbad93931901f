"""Check as another user: run by its interpreter, so that executing and importing are checked too.

Usage: python -m deskhand.tools.control_plane.access_probe DATA_DIR [FILE ...]. It prints one line
of JSON with the first path that this user cannot use, and the reason.
"""

import importlib.util
import json
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

LIBRARIES = ("aiosqlite", "anthropic", "av", "cryptography", "fastapi", "numpy", "obstore", "PIL")
"""Libraries that the control plane may load after it became another user."""
BELOW = ("files", "logs", "run")


def first_problem(data_dir: Path, files: Iterable[Path]) -> dict[str, str]:
    """Return ``path`` and ``reason`` of what cannot be used; empty if all can."""
    path = data_dir
    try:
        with tempfile.TemporaryFile(dir=data_dir):
            pass
        for path in (*_inside(data_dir), *files):
            _try(path)
        for name in LIBRARIES:
            found = importlib.util.find_spec(name)
            path = Path(found.origin if found and found.origin else name)
            path.open("rb").close()
    except OSError as error:
        return {"path": str(path), "reason": error.strerror or str(error)}
    return {}


def _inside(data_dir: Path) -> Iterator[Path]:
    yield from sorted(data_dir.iterdir())
    for name in BELOW:
        folder = data_dir / name
        if folder.is_dir():
            yield from sorted(folder.iterdir())


def _try(path: Path) -> None:
    mode = path.lstat().st_mode
    if stat.S_ISREG(mode):
        os.close(os.open(path, os.O_RDWR))
    elif stat.S_ISDIR(mode) and not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        raise PermissionError(13, "Permission denied")


if __name__ == "__main__":
    data, *others = map(Path, sys.argv[1:])
    sys.stdout.write(json.dumps(first_problem(data, others)) + "\n")
