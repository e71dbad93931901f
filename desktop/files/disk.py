"""Finds, lists and atomically replaces files, confined to roots. All functions block.

A replacement is written to a temporary file in the directory of its target, synchronised with
fsync(2), and renamed over the target (rename(2)); the directory is synchronised after that. The
invariants:

* A reader sees the old content or the new one, never a mixture; so does a reader after a crash.
* Without ``commit`` nothing changes, and the temporary file is removed.
* Symbolic links are followed to the file that is replaced. Mode and, where permitted, owner of the
  old file are kept.
* Paths are resolved once, into descriptors (O_PATH), which are checked against the roots. All
  further work uses ``dir_fd``, so that a directory that is swapped for a link in between (TOCTOU)
  cannot lead outside.
"""

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

from .errors import (
    BadPath,
    ChangedMeanwhile,
    FileError,
    Forbidden,
    MissingFile,
    NoSpaceLeft,
    ReadOnly,
)
from .roots import EVERYWHERE, Roots, descriptor_path

MOST_LINKS = 40
"""Limit of symbolic links in one resolution, as in the kernel (path_resolution(7))."""
TOO_MANY_LINKS = "too many levels of symbolic links"
CHUNK = 1_048_576
_SPECIAL = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}
_KINDS: dict[int, type[FileError]] = {
    errno.ENAMETOOLONG: BadPath,
    errno.EROFS: ReadOnly,
    errno.ENOTEMPTY: BadPath,
    errno.ENOSPC: NoSpaceLeft,
    errno.EDQUOT: NoSpaceLeft,
}


@dataclass(frozen=True)
class DirectoryEntry:
    """An entry of a directory."""

    name: str
    path: Path
    is_dir: bool


@contextmanager
def translated_errors(path: Path | str) -> Iterator[None]:
    """Translate OSError in the body into this package's errors about ``path``."""
    try:
        yield
    except FileNotFoundError as error:
        raise MissingFile(str(path)) from error
    except PermissionError as error:
        raise Forbidden(str(path)) from error
    except NotADirectoryError as error:
        raise BadPath(f"{str(path)!r}: a part of the path is not a directory") from error
    except OSError as error:
        kind = _KINDS.get(error.errno or 0, FileError)
        reason = TOO_MANY_LINKS if error.errno == errno.ELOOP else error.strerror or error
        raise kind(f"{str(path)!r}: {reason}") from error


def absolute(text: str, what: str = "file path") -> Path:
    """Return the normalized path; raises :class:`BadPath` unless it is absolute."""
    if not text:
        raise BadPath(f"{what} is required")
    if "\0" in text:
        raise BadPath(f"{what} must not contain NUL")
    if not text.startswith("/"):
        raise BadPath(f"{what} must be absolute: {text!r}")
    return Path(os.path.normpath(text))


def target(path: Path) -> Path:
    """Follow symbolic links of ``path``; the final target need not exist."""
    requested = path
    for _ in range(MOST_LINKS + 1):
        try:
            path = path.parent / path.readlink()
        except (FileNotFoundError, NotADirectoryError):
            return path
        except OSError as error:
            if error.errno == errno.EINVAL:
                return path
            raise
    raise FileError(f"{str(requested)!r}: {TOO_MANY_LINKS}")


def resolved(path: Path, roots: Roots = EVERYWHERE) -> Path:
    """Return the path without symbolic links; parts that do not exist are kept."""
    roots.admit(path)
    with translated_errors(path):
        real = os.path.realpath(path)
        with suppress(FileNotFoundError, NotADirectoryError):
            path.stat()  # a loop, and more links than are followed, are errors here
        roots.admit(Path(real))
        return Path(real)


def existing(path: Path, roots: Roots = EVERYWHERE) -> Path:
    """Return the path without links of something that must be there."""
    with translated_errors(path), roots.held(path) as held:
        return descriptor_path(held).readlink()


def check_regular(found: os.stat_result, path: Path) -> None:
    """Raise BadPath, which names the kind of the file, unless it is a regular one."""
    kind = stat.S_IFMT(found.st_mode)
    if kind == stat.S_IFDIR:
        raise BadPath(f"{str(path)!r} is not a file")
    if kind != stat.S_IFREG:
        name = _SPECIAL.get(kind, "special")
        raise BadPath(f"{str(path)!r} is {name}, not a regular file")


def entries(path: Path, roots: Roots = EVERYWHERE) -> list[DirectoryEntry]:
    """Return the entries of a directory: directories first, then by name in byte order."""
    with translated_errors(path), roots.held(path) as held:
        if not stat.S_ISDIR(os.fstat(held).st_mode):
            raise BadPath(f"{str(path)!r} is not a directory")
        with os.scandir(descriptor_path(held)) as listing:
            found = [DirectoryEntry(item.name, path / item.name, item.is_dir()) for item in listing]
    return sorted(found, key=lambda entry: (not entry.is_dir, os.fsencode(entry.name)))


@dataclass(frozen=True)
class _Released:
    """Facts by which the descriptors of a replacement are opened again."""

    directory: Path
    directory_id: tuple[int, int]
    file_state: tuple[int, ...]


class Replacement:
    """New content for a file, in a temporary file beside it until ``commit``.

    Missing parent directories are created. A context manager; see the module for its invariants.
    """

    def __init__(self, path: Path, roots: Roots = EVERYWHERE) -> None:
        self._path = path
        self._roots = roots
        self._name = path.name
        self._temporary_name: str | None = None
        self._file: BinaryIO | None = None
        self._stack = ExitStack()
        self._directory = -1
        self._released: _Released | None = None

    def __enter__(self) -> Self:
        """Create the temporary file."""
        with ExitStack() as on_failure, translated_errors(self._path):
            on_failure.callback(self._stack.close)
            self._roots.admit(self._path)
            link_target = target(self._path)
            self._name = link_target.name
            self._directory = self._stack.enter_context(
                held_directory(link_target.parent, self._path, self._roots)
            )
            existing_stat = self._existing_stat()
            if not self._name or (
                existing_stat is not None and stat.S_ISDIR(existing_stat.st_mode)
            ):
                raise BadPath(f"{str(self._path)!r} is a directory")
            if existing_stat is not None:
                check_regular(existing_stat, self._path)
            # Shortened, because a name has at most 255 bytes (NAME_MAX).
            name = f".{self._name[:50]}.tmp.{secrets.token_hex(4)}"
            # O_EXCL neither opens a file that is there nor follows a link (open(2)). The mode 0666
            # is reduced by the umask, as for a file that any program creates.
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            descriptor = os.open(name, flags, 0o666, dir_fd=self._directory)
            on_failure.callback(os.unlink, name, dir_fd=self._directory)
            self._file = os.fdopen(descriptor, "wb", buffering=0)
            on_failure.callback(self._file.close)
            if existing_stat is not None and not self._writable():
                raise Forbidden(str(self._path))
            self._temporary_name = name
            on_failure.pop_all()
        return self

    def write(self, data: bytes) -> None:
        """Append to the new content."""
        with translated_errors(self._path):
            view = memoryview(data)
            while view:
                view = view[self._opened().write(view) :]

    def release(self) -> None:
        """Close the descriptors; each later call opens them for its own duration only.

        For a batch of more files than one process may have open.
        """
        with translated_errors(self._path):
            self._released = _Released(
                descriptor_path(self._directory).readlink(),
                _identity(self._directory),
                _state(self._opened().fileno()),
            )
            self._close()

    def duplicate(self) -> int:
        """Return another descriptor of the temporary file, to write the new content to."""
        return os.dup(self._opened().fileno())

    def digest(self) -> str | None:
        """Return the SHA-256 of the file's current content; None if there is no file."""
        # O_NONBLOCK: a FIFO put in the place of the file must not block the open.
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        with translated_errors(self._path), self._reopened():
            try:
                descriptor = os.open(self._name, flags, dir_fd=self._directory)
            except FileNotFoundError:
                return None
            with os.fdopen(descriptor, "rb") as file:
                return file_digest(file, "sha256").hexdigest()

    def commit(self) -> None:
        """Synchronise the new content to disk and rename it over the file."""
        with translated_errors(self._path), self._reopened():
            file = self._opened()
            existing_stat = self._existing_stat()
            # The state is read again, as the upload may have taken minutes. A link here was put in
            # place after `target` had followed the links: it is replaced, and its mode (0777) is
            # not copied.
            if existing_stat is not None and not stat.S_ISLNK(existing_stat.st_mode):
                check_regular(existing_stat, self._path)
                _copy_owner_and_mode(file.fileno(), existing_stat)
            # A rename before the data is on disk could leave an empty file after a crash.
            os.fsync(file.fileno())
            file.close()
            if self._temporary_name is not None:
                directory = self._directory
                os.rename(
                    self._temporary_name, self._name, src_dir_fd=directory, dst_dir_fd=directory
                )
            self._temporary_name = None
            _sync_directory(self._directory)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the temporary file if it was not committed."""
        if self._file is not None:
            self._file.close()
        if self._temporary_name is not None:
            with suppress(OSError, FileError), self._reopened():
                os.unlink(self._temporary_name, dir_fd=self._directory)
        self._close()

    @contextmanager
    def _reopened(self) -> Iterator[None]:
        """Hold the descriptors while the block runs, if they were released."""
        released = self._released
        if released is None or self._temporary_name is None:
            yield
            return
        try:
            held = self._roots.held(released.directory, os.O_DIRECTORY | os.O_NOFOLLOW)
            self._directory = self._stack.enter_context(held)
            flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(self._temporary_name, flags, dir_fd=self._directory)
            self._file = os.fdopen(descriptor, "wb", buffering=0)
            # Another directory or file may have the names by now.
            same_directory = _identity(self._directory) == released.directory_id
            if not same_directory or _state(descriptor) != released.file_state:
                raise ChangedMeanwhile(str(self._path))
            yield
        finally:
            self._close()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._stack.close()

    def _opened(self) -> BinaryIO:
        if self._file is None or self._file.closed:
            raise FileError(f"{str(self._path)!r}: the replacement is not open")
        return self._file

    def _writable(self) -> bool:
        # rename(2) requires write permission on the directory only, not on the file.
        return os.access(self._name, os.W_OK, dir_fd=self._directory, effective_ids=True)

    def _existing_stat(self) -> os.stat_result | None:
        with suppress(FileNotFoundError):
            return os.stat(self._name, dir_fd=self._directory, follow_symlinks=False)
        return None


def replace(path: Path, data: bytes, roots: Roots = EVERYWHERE) -> None:
    """Replace the content of a file."""
    with Replacement(path, roots) as new:
        new.write(data)
        new.commit()


@contextmanager
def held_directory(path: Path, requested: Path, roots: Roots) -> Iterator[int]:
    """Open a directory, and create missing ones below the last checked descriptor.

    Errors name ``requested``.
    """
    with ExitStack() as stack:
        missing: list[str] = []
        parent = path
        try:
            while True:
                try:
                    directory = stack.enter_context(roots.held(parent, os.O_DIRECTORY))
                    break
                except FileNotFoundError:
                    missing.append(parent.name)
                    parent = parent.parent
            for name in reversed(missing):
                # Another process may create the directory at the same time. O_NOFOLLOW rejects a
                # link that was put in its place.
                with suppress(FileExistsError):
                    # Reduced by the umask, or by the default ACL of a shared working directory.
                    os.mkdir(name, 0o777, dir_fd=directory)
                flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
                directory = os.open(name, flags, dir_fd=directory)
                stack.callback(os.close, directory)
        except NotADirectoryError as error:
            raise BadPath(f"{str(requested)!r}: a parent is not a directory") from error
        yield directory


def _identity(descriptor: int) -> tuple[int, int]:
    """Return what no other file has while this one exists (inode(7))."""
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def _state(descriptor: int) -> tuple[int, ...]:
    # A new file may get the inode of one that was removed.
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _copy_owner_and_mode(descriptor: int, existing_stat: os.stat_result) -> None:
    own = os.fstat(descriptor)
    if (own.st_uid, own.st_gid) != (existing_stat.st_uid, existing_stat.st_gid):
        with suppress(PermissionError):
            os.fchown(descriptor, existing_stat.st_uid, existing_stat.st_gid)
    # After fchown, which clears the set-user-ID and set-group-ID bits (chown(2)).
    os.fchmod(descriptor, stat.S_IMODE(existing_stat.st_mode))


def _sync_directory(directory: int) -> None:
    # The rename is durable only after fsync(2) of the directory. A file system that does not
    # support that raises an error, which is ignored as the file is in place already.
    with suppress(OSError):
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        # `directory` is an O_PATH descriptor, for which fsync(2) fails with EBADF.
        descriptor = os.open(".", flags, dir_fd=directory)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
