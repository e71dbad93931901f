"""Read and replace files so that nobody ever sees half a file. Everything here blocks."""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from .errors import BadPath, FileError, Forbidden, MissingFile
from .roots import EVERYWHERE, Roots, place

MOST_LINKS = 40
"""As many as the kernel follows, path_resolution(7)."""
TOO_MANY_LINKS = "too many levels of symbolic links"
CHUNK = 1_048_576


@dataclass(frozen=True)
class DirectoryEntry:
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
        kind = BadPath if error.errno == errno.ENAMETOOLONG else FileError
        said = TOO_MANY_LINKS if error.errno == errno.ELOOP else error.strerror or error
        raise kind(f"{str(path)!r}: {said}") from error


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
    asked = path
    for _ in range(MOST_LINKS + 1):
        try:
            path = path.parent / path.readlink()
        except (FileNotFoundError, NotADirectoryError):
            return path
        except OSError as error:
            if error.errno == errno.EINVAL:
                return path
            raise
    raise FileError(f"{str(asked)!r}: {TOO_MANY_LINKS}")


def resolved(path: Path, roots: Roots = EVERYWHERE) -> Path:
    """Return the path without links; parts that do not exist are kept."""
    roots.admit(path)
    with told(path):
        real = os.path.realpath(path)
        with suppress(FileNotFoundError, NotADirectoryError):
            path.stat()  # a loop, and more links than are followed, are errors here
        roots.admit(Path(real))
        return Path(real)


def existing(path: Path, roots: Roots = EVERYWHERE) -> Path:
    """Return the path without links of something that must be there."""
    with told(path), roots.held(path) as held:
        return place(held).readlink()


@contextmanager
def opened(path: Path, roots: Roots = EVERYWHERE) -> Iterator[BinaryIO]:
    """Open a regular file for reading."""
    with told(path), roots.held(path) as held:
        # Looked at before it is opened: a fifo would hold this thread, a device might act.
        if not stat.S_ISREG(os.fstat(held).st_mode):
            raise BadPath(f"{str(path)!r} is not a file")
        file = place(held).open("rb")
    with file:
        yield file


def chunks(file: BinaryIO) -> Iterator[bytes]:
    """Yield the rest of a file in pieces."""
    while data := file.read(CHUNK):
        yield data


def entries(path: Path, roots: Roots = EVERYWHERE) -> list[DirectoryEntry]:
    """Return what is in a directory: directories first, then by name in byte order."""
    with told(path), roots.held(path) as held:
        if not stat.S_ISDIR(os.fstat(held).st_mode):
            raise BadPath(f"{str(path)!r} is not a directory")
        with os.scandir(place(held)) as listing:
            found = [DirectoryEntry(item.name, path / item.name, item.is_dir()) for item in listing]
    return sorted(found, key=lambda entry: (not entry.is_dir, os.fsencode(entry.name)))


class Replacement:
    """New content for a file, beside it until ``commit``; without one nothing has happened.

    Links are followed, parents made, the mode kept, and the owner where the system lets us. All
    goes by a descriptor of the file's directory, wherever its path may lead by then.
    """

    def __init__(self, path: Path, roots: Roots = EVERYWHERE) -> None:
        self._path = path
        self._roots = roots
        self._name = path.name
        self._temporary: str | None = None
        self._file: BinaryIO | None = None
        self._stack = ExitStack()
        self._folder = -1

    def __enter__(self) -> Self:
        """Make the temporary file."""
        with ExitStack() as on_failure, told(self._path):
            on_failure.callback(self._stack.close)
            self._roots.admit(self._path)
            goal = target(self._path)
            self._name = goal.name
            self._folder = self._stack.enter_context(_folder_of(goal, self._path, self._roots))
            old = self._old()
            if not self._name or (old is not None and stat.S_ISDIR(old.st_mode)):
                raise BadPath(f"{str(self._path)!r} is a directory")
            # Shortened: a name may have 255 bytes, and this one is longer than its target's.
            name = f".{self._name[:50]}.tmp.{secrets.token_hex(4)}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            descriptor = os.open(name, flags, 0o666, dir_fd=self._folder)
            on_failure.callback(os.unlink, name, dir_fd=self._folder)
            self._file = os.fdopen(descriptor, "wb", buffering=0)
            on_failure.callback(self._file.close)
            if old is not None and not self._writable():
                raise Forbidden(str(self._path))
            self._temporary = name
            on_failure.pop_all()
        return self

    def write(self, data: bytes) -> None:
        """Add to the new content."""
        with told(self._path):
            view = memoryview(data)
            while view:
                view = view[self._opened().write(view) :]

    def digest(self) -> str | None:
        """Return the SHA-256 of what the file holds now, None if there is none."""
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        with told(self._path):
            try:
                descriptor = os.open(self._name, flags, dir_fd=self._folder)
            except FileNotFoundError:
                return None
            with os.fdopen(descriptor, "rb") as file:
                return file_digest(file, "sha256").hexdigest()

    def commit(self) -> None:
        """Put the new content, all of it on the disk, in the place of the old."""
        file = self._opened()
        with told(self._path):
            old = self._old()
            if old is not None and not stat.S_ISLNK(old.st_mode):
                _take_over(file.fileno(), old)
            os.fsync(file.fileno())
            file.close()
            if self._temporary is not None:
                folder = self._folder
                os.rename(self._temporary, self._name, src_dir_fd=folder, dst_dir_fd=folder)
            self._temporary = None
            _sync_directory(self._folder)

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
                os.unlink(self._temporary, dir_fd=self._folder)
        self._stack.close()

    def _opened(self) -> BinaryIO:
        if self._file is None or self._file.closed:
            raise FileError(f"{str(self._path)!r}: the replacement is not open")
        return self._file

    def _writable(self) -> bool:
        # A rename asks only whether the directory may be written to.
        return os.access(self._name, os.W_OK, dir_fd=self._folder, effective_ids=True)

    def _old(self) -> os.stat_result | None:
        with suppress(FileNotFoundError):
            return os.stat(self._name, dir_fd=self._folder, follow_symlinks=False)
        return None


def replace(path: Path, data: bytes, roots: Roots = EVERYWHERE) -> None:
    """Replace the content of a file."""
    with Replacement(path, roots) as new:
        new.write(data)
        new.commit()


@contextmanager
def _folder_of(goal: Path, asked: Path, roots: Roots) -> Iterator[int]:
    """Hold the directory of a file, made if need be, each part below the one checked before."""
    with ExitStack() as stack:
        missing: list[str] = []
        parent = goal.parent
        try:
            while True:
                try:
                    folder = stack.enter_context(roots.held(parent, os.O_DIRECTORY))
                    break
                except FileNotFoundError:
                    missing.append(parent.name)
                    parent = parent.parent
            for name in reversed(missing):
                with suppress(FileExistsError):
                    os.mkdir(name, 0o755, dir_fd=folder)
                flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
                folder = os.open(name, flags, dir_fd=folder)
                stack.callback(os.close, folder)
        except NotADirectoryError as error:
            raise BadPath(f"{str(asked)!r}: a parent is not a directory") from error
        yield folder


def _take_over(descriptor: int, old: os.stat_result) -> None:
    own = os.fstat(descriptor)
    if (own.st_uid, own.st_gid) != (old.st_uid, old.st_gid):
        with suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _sync_directory(folder: int) -> None:
    # The rename itself is lost in a crash until its directory is on the disk. Not every file
    # system can do it, and by now the file is in place.
    with suppress(OSError):
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        descriptor = os.open(".", flags, dir_fd=folder)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
