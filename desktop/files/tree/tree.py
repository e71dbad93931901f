"""Creates, extends and removes files and directories, confined to roots. All functions block.

The directory of a path is opened once, with links followed, and checked against the roots. All
further work names the last part of the path below that descriptor, so that a directory that is
swapped for a link in between cannot lead outside. The last part itself is followed only where its
content is read or extended: a link is removed, not its target.
"""

import os
import shutil
import stat
from pathlib import Path
from typing import Any, BinaryIO

from deskhand.desktop.files.disk import check_regular, held_directory, target, translated_errors
from deskhand.desktop.files.errors import BadPath, ChangedMeanwhile
from deskhand.desktop.files.roots import EVERYWHERE, Roots

Json = dict[str, Any]


def status(path: Path, roots: Roots = EVERYWHERE) -> Json:
    """Return the kind and the size in bytes of what a path leads to."""
    with translated_errors(path), roots.held(path) as held:
        found = os.fstat(held)
    kind = {stat.S_IFREG: "file", stat.S_IFDIR: "directory"}.get(stat.S_IFMT(found.st_mode))
    return {"path": str(path), "kind": kind or "other", "bytes": found.st_size}


def make_directory(path: Path, roots: Roots = EVERYWHERE) -> None:
    """Create a directory with its parents; one that exists is no error."""
    with translated_errors(path):
        roots.admit(path)
        with held_directory(target(path), path, roots):
            pass


def opened_for_append(path: Path, roots: Roots = EVERYWHERE) -> int:
    """Return a descriptor whose writes extend a file; missing parents and the file are created."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with translated_errors(path):
        roots.admit(path)
        real = target(path)
        with held_directory(real.parent, path, roots) as directory:
            _refuse_others(path, directory, real.name)
            descriptor = os.open(real.name, flags, 0o666, dir_fd=directory)
        # Another file may have taken the name since it was examined.
        try:
            check_regular(os.fstat(descriptor), path)
        except BadPath:
            os.close(descriptor)
            raise
        return descriptor


def append(file: BinaryIO, data: bytes, path: Path) -> None:
    """Extend an unbuffered file that is open for it; one that is full keeps its former size."""
    before = os.fstat(file.fileno()).st_size
    written = 0
    try:
        with translated_errors(path):
            while written < len(data):
                written += file.write(data[written:])
    except BaseException:
        # What another process has appended meanwhile stays.
        if written and os.fstat(file.fileno()).st_size == before + written:
            os.ftruncate(file.fileno(), before)
        raise


def remove(path: Path, roots: Roots = EVERYWHERE, *, recursive: bool = False) -> None:
    """Remove a file, a link, or a directory: an empty one, unless ``recursive``."""
    if not path.name:
        raise BadPath(f"{str(path)!r} cannot be removed")
    with translated_errors(path):
        roots.admit(path)
        with roots.held(path.parent, os.O_DIRECTORY) as directory:
            found = os.stat(path.name, dir_fd=directory, follow_symlinks=False)
            if not stat.S_ISDIR(found.st_mode):
                os.unlink(path.name, dir_fd=directory)
            elif recursive:
                # Below the descriptor, without following links (`rmtree.avoids_symlink_attacks`).
                shutil.rmtree(path.name, dir_fd=directory)
            else:
                os.rmdir(path.name, dir_fd=directory)


def _refuse_others(path: Path, directory: int, name: str) -> None:
    """Refuse what is no regular file before it is opened, as an open may have effects."""
    try:
        found = os.stat(name or ".", dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode):
        raise ChangedMeanwhile(str(path))
    check_regular(found, path)
