"""The trees that files may lie in, held to against links, ``..`` and whoever swaps a folder.

A path is checked by what it led to, not by how it is written: it is opened without touching the
file (O_PATH, open(2)), the kernel says where that is, and all further work goes by the descriptor.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .errors import OutsideRoots


@dataclass(frozen=True)
class Roots:
    """Real paths of trees; none of them: every file may be used."""

    paths: tuple[Path, ...] = ()

    @classmethod
    def of(cls, paths: tuple[Path, ...]) -> "Roots":
        """Return these trees by their real paths, and by those they were named by."""
        both = dict.fromkeys(p for path in paths for p in (path.resolve(), path.absolute()))
        return cls(tuple(both))

    def admit(self, path: Path) -> None:
        """Raise OutsideRoots if the path, as written, leads out."""
        if self.paths and not any(path.is_relative_to(root) for root in self.paths):
            raise OutsideRoots(str(path))

    @contextmanager
    def held(self, path: Path, flags: int = 0) -> Iterator[int]:
        """Yield a descriptor (O_PATH) of what a path leads to, links included.

        Raises:
            OutsideRoots: If that is in none of the trees.
            OSError: If there is nothing.
        """
        self.admit(path)
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC | flags)
        try:
            if self.paths:
                self._check(descriptor, path)
            yield descriptor
        finally:
            os.close(descriptor)

    def _check(self, descriptor: int, path: Path) -> None:
        real = place(descriptor).readlink()
        if not any(real.is_relative_to(root) for root in self.paths):
            raise OutsideRoots(str(path))


EVERYWHERE = Roots()


def place(descriptor: int) -> Path:
    """Return the path by which what a descriptor stands for can be opened again."""
    return Path(f"/proc/self/fd/{descriptor}")
