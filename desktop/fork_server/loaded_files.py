"""Files that a process has loaded, and whether they were changed since."""

import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class LoadedFiles:
    """Time of the last change and length of each file, when it was loaded."""

    known: dict[str, tuple[int, int]]

    @classmethod
    def now(cls) -> "LoadedFiles":
        """Return the source files and libraries of the modules that are loaded."""
        named = {getattr(one, "__file__", None) for one in list(sys.modules.values())}
        found = {path: _state(path) for path in named if path}
        return cls({path: state for path, state in found.items() if state is not None})

    def changed(self) -> str:
        """Return a file that is not any more what was loaded, or an empty text."""
        return next((path for path, state in self.known.items() if _state(path) != state), "")


def _state(path: str) -> tuple[int, int] | None:
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
