"""Folders that a worker may write: given to its user, and taken back when it is dead.

A worker that was taken over may leave anything in its folder, such as a link to a file of the
control plane. Only regular files come back, and those that are new must have no other name.
"""

import os
import stat
from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def lent(folder: Path, uid: int | None) -> Iterator[None]:
    """Let ``uid`` own a folder while the block runs; with None the owner stays."""
    before = [folder, *_below(folder)]
    # A recording may be in the store already, under a second name, if storing it was interrupted.
    known = {path.lstat().st_ino for path in before}
    if uid is not None:
        for path in before:
            os.chown(path, uid, uid, follow_symlinks=False)
    try:
        yield
    finally:
        _take_back(folder, known)


def _take_back(folder: Path, known: Set[int]) -> None:
    own = os.geteuid(), os.getegid()
    os.chown(folder, *own)
    folder.chmod(0o700)
    for path in _below(folder):
        found = path.lstat()
        if stat.S_ISDIR(found.st_mode):
            os.chown(path, *own)
            path.chmod(0o700)
        elif stat.S_ISREG(found.st_mode) and (found.st_nlink == 1 or found.st_ino in known):
            os.chown(path, *own)
            path.chmod(0o600)
        else:
            path.unlink()


def _below(folder: Path) -> Iterator[Path]:
    """Iterate over all that is in a folder, without following links; parents come first."""
    for path in sorted(folder.iterdir()):
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _below(path)
