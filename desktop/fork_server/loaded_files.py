"""Files that a process has loaded, and whether they were changed since."""

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class LoadedFiles:
    """Time of the last change and length of each file, when it was loaded."""

    known: dict[str, tuple[int, int]]

    @classmethod
    def now(cls, more: Iterable[Path] = ()) -> "LoadedFiles":
        """Return the source files and libraries of the modules that are loaded, and ``more``."""
        named = {getattr(one, "__file__", None) for one in list(sys.modules.values())}
        named.update(map(str, more))
        found = {path: _state(path) for path in named if path}
        return cls({path: state for path, state in found.items() if state is not None})

    def changed(self) -> str:
        """Return a file that is not any more what was loaded, or an empty text."""
        return next((path for path, state in self.known.items() if _state(path) != state), "")


def _state(path: str) -> tuple[int, int] | None:
    try:
        # A desktop starts after a thousand of these, each several times as fast as `Path.stat`.
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
