"""Read and replace files so that nobody ever sees half a file. Everything here blocks."""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from .errors import BadPath, FileError, Forbidden, MissingFile

MOST_LINKS = 40
CHUNK = 1_048_576


@dataclass(frozen=True)
class Entry:
    """Something in a directory."""

    name: str
    path: Path
    is_dir: bool


@contextmanager
def told(path: Path | str) -> Iterator[None]:
    """Tell the system's errors in this package's terms, about ``path``."""
    try:
        yield
    except FileNotFoundError as error:
        raise MissingFile(str(path)) from error
    except PermissionError as error:
        raise Forbidden(str(path)) from error
    except NotADirectoryError as error:
        raise BadPath(f"{str(path)!r}: a part of the path is not a directory") from error
    except OSError as error:
        raise FileError(f"{str(path)!r}: {error.strerror or error}") from error


def absolute(text: str, what: str = "file path") -> Path:
    """Return the path if it is usable."""
    if not text:
        raise BadPath(f"{what} is required")
    if "\0" in text:
        raise BadPath(f"{what} must not contain NUL")
    if not text.startswith("/"):
        raise BadPath(f"{what} must be absolute: {text!r}")
    return Path(os.path.normpath(text))


def target(path: Path) -> Path:
    """Follow the links that ``path`` names, to what may not exist yet."""
    for _ in range(MOST_LINKS):
        try:
            path = path.parent / path.readlink()
        except (FileNotFoundError, NotADirectoryError):
            return path
        except OSError as error:
            if error.errno == errno.EINVAL:
                return path
            raise
    raise FileError(f"{str(path)!r}: too many levels of symbolic links")


def resolved(path: Path) -> Path:
    """Return the path without links; parts that do not exist are kept."""
    with told(path):
        real = os.path.realpath(path)
        if Path(real).is_symlink():
            raise FileError(f"{str(path)!r}: too many levels of symbolic links")
        return Path(real)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file for reading."""
    with told(path):
        # Not blocking: a fifo that nobody writes to would hold this thread for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    # Looked at before it becomes a file object: Python makes none of a directory.
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BadPath(f"{str(path)!r} is not a file")
    with os.fdopen(descriptor, "rb") as file:
        yield file


def chunks(file: BinaryIO) -> Iterator[bytes]:
    """Yield the rest of a file in pieces."""
    while data := file.read(CHUNK):
        yield data


def entries(path: Path) -> list[Entry]:
    """Return what is in a directory: directories first, then by name in byte order."""
    with told(path):
        if not stat.S_ISDIR(path.stat().st_mode):
            raise BadPath(f"{str(path)!r} is not a directory")
        with os.scandir(path) as listing:
            found = [Entry(item.name, path / item.name, item.is_dir()) for item in listing]
    return sorted(found, key=lambda entry: (not entry.is_dir, os.fsencode(entry.name)))


class Replacement:
    """New content for a file, beside it until ``commit``; without one nothing has happened.

    Links are followed, parents made, the mode kept, and the owner where the system lets us.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._target = path
        self._temporary: Path | None = None
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        """Make the temporary file."""
        with told(self._path):
            self._target = target(self._path)
            self._make_parents()
            if self._target.is_dir():
                raise BadPath(f"{str(self._path)!r} is a directory")
            # Shortened: a name may have 255 bytes, and this one is longer than its target's.
            name = f".{self._target.name[:50]}.tmp.{secrets.token_hex(4)}"
            self._temporary = self._target.parent / name
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            self._file = os.fdopen(os.open(self._temporary, flags, 0o666), "wb", buffering=0)
        return self

    def write(self, data: bytes) -> None:
        """Add to the new content."""
        with told(self._path):
            view = memoryview(data)
            while view:
                view = view[self._opened().write(view) :]

    def commit(self) -> None:
        """Put the new content, all of it on the disk, in the place of the old."""
        file = self._opened()
        with told(self._path):
            with suppress(FileNotFoundError):
                self._take_over(file.fileno(), self._target.stat())
            os.fsync(file.fileno())
            file.close()
            if self._temporary is not None:
                self._temporary.replace(self._target)
            self._temporary = None
            _sync_directory(self._target.parent)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove what was not committed."""
        if self._file is not None:
            self._file.close()
        if self._temporary is not None:
            with suppress(OSError):
                self._temporary.unlink()

    def _opened(self) -> BinaryIO:
        if self._file is None or self._file.closed:
            raise FileError(f"{str(self._path)!r}: the replacement is not open")
        return self._file

    def _make_parents(self) -> None:
        try:
            # One by one: parents=True would give the mode to the last one only.
            for parent in reversed(self._target.parents):
                if not parent.is_dir():
                    parent.mkdir(mode=0o755, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise BadPath(f"{str(self._path)!r}: a parent is not a directory") from error

    def _take_over(self, descriptor: int, old: os.stat_result) -> None:
        own = os.fstat(descriptor)
        if (own.st_uid, own.st_gid) != (old.st_uid, old.st_gid):
            with suppress(PermissionError):
                os.fchown(descriptor, old.st_uid, old.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def replace(path: Path, data: bytes) -> None:
    """Replace the content of a file."""
    with Replacement(path) as new:
        new.write(data)
        new.commit()


def _sync_directory(path: Path) -> None:
    # The rename itself is lost in a crash until its directory is on the disk. Not every file
    # system can do it, and by now the file is in place.
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
