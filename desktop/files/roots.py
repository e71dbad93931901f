"""Confinement of file operations to trees, safe against links, ``..`` and swapped directories.

A path is checked by its target, not by its text: it is opened with O_PATH (open(2)), which has no
effect on the file; /proc/self/fd gives the real path of the descriptor, and all further work uses
the descriptor.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .errors import OutsideRoots


@dataclass(frozen=True)
class Roots:
    """Real paths of the permitted trees; empty permits every file."""

    paths: tuple[Path, ...] = ()

    @classmethod
    def of(cls, paths: tuple[Path, ...]) -> "Roots":
        """Return the trees by their real paths and by the paths that were configured."""
        # `admit` compares the requested text, which may contain links above a root; `_check`
        # compares the real path. Each needs its own form of a root.
        both = dict.fromkeys(p for path in paths for p in (path.resolve(), path.absolute()))
        return cls(tuple(both))

    def admit(self, path: Path) -> None:
        """Raise OutsideRoots if the path, by its text alone, is outside."""
        if self.paths and not any(path.is_relative_to(root) for root in self.paths):
            raise OutsideRoots(str(path))

    @contextmanager
    def held(self, path: Path, flags: int = 0) -> Iterator[int]:
        """Yield an O_PATH descriptor of a path's target, with links followed.

        Raises:
            OutsideRoots: If the target is in none of the trees.
            OSError: If there is nothing.
        """
        # Before the open: otherwise "not found" would reveal whether a file outside exists.
        self.admit(path)
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC | flags)
        try:
            if self.paths:
                self._check(descriptor, path)
            yield descriptor
        finally:
            os.close(descriptor)

    def _check(self, descriptor: int, path: Path) -> None:
        real = descriptor_path(descriptor).readlink()
        if not any(real.is_relative_to(root) for root in self.paths):
            raise OutsideRoots(str(path))


EVERYWHERE = Roots()


def descriptor_path(descriptor: int) -> Path:
    """Return the /proc path that reopens the file of a descriptor."""
    return Path(f"/proc/self/fd/{descriptor}")
