"""Changes below a directory, read from inotify(7)."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from .change_events import (
    CREATE,
    IGNORED,
    IS_DIR,
    MOVED_FROM,
    MOVED_TO,
    OVERFLOW,
    WANTED,
    Change,
    InotifyEvent,
    changes,
    parse_events,
)
from .disk import existing, translated_errors
from .errors import BadPath, FileError, Forbidden, MissingFile, Unwatchable
from .roots import EVERYWHERE, Roots, descriptor_path

MOST_FOLDERS = 8_192
"""Directories of one watch."""
READ_SIZE = 65_536

_LIBC = ctypes.CDLL(None, use_errno=True)


class WatchedTree:
    """The watched directories of one tree. Blocking; close it."""

    def __init__(
        self,
        path: Path,
        roots: Roots = EVERYWHERE,
        *,
        recursive: bool = True,
        most: int = MOST_FOLDERS,
    ) -> None:
        """Watch a directory, recursively if requested; a file is watched through its directory.

        Raises:
            FileError: If the path does not exist or cannot be watched.
        """
        self._roots = roots
        self._recursive = recursive
        self._most = most
        self._closed = False
        self._folders: dict[int, Path] = {}
        self._listed: set[Path] = set()
        real = existing(path, roots)
        # The watch is on the directory, because editors replace a file by rename: a watch on the
        # old inode would report nothing after that.
        self._only = None if real.is_dir() else real
        self.descriptor = _checked(_LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC), path)
        try:
            self._add(real if self._only is None else real.parent, path)
        except FileError:
            self.close()
            raise

    def close(self) -> None:
        """Stop watching; twice is fine."""
        if not self._closed:
            self._closed = True
            os.close(self.descriptor)

    def read(self) -> list[Change]:
        """Return the changes since the last read."""
        events: list[InotifyEvent] = []
        with suppress(BlockingIOError):
            # Reads until EAGAIN, so that both events of a rename are usually in one batch.
            while data := os.read(self.descriptor, READ_SIZE):
                events.extend(parse_events(data))
        return changes(list(self._placed(events)))

    def _placed(self, events: list[InotifyEvent]) -> Iterator[tuple[str, InotifyEvent]]:
        arrivals = {event.cookie for event in events if event.mask & MOVED_TO}
        departures: dict[int, Path] = {}
        # Entries that were listed after the last read may have an event in this one.
        listed, self._listed = self._listed, set()
        for event in events:
            if event.mask & OVERFLOW:
                yield "", event
                continue
            folder = self._folders.get(event.watch)
            if event.mask & IGNORED or folder is None:
                self._folders.pop(event.watch, None)
                continue
            path = folder / os.fsdecode(event.name)
            if self._only is None or path == self._only:
                if not (event.mask & CREATE and path in listed):
                    yield _shown(path), event
                listed.discard(path)
            if event.is_dir and self._recursive and self._only is None:
                if event.mask & MOVED_FROM:
                    departures[event.cookie] = path
                    if event.cookie not in arrivals:
                        self._remove_below(path)
                elif event.mask & (CREATE | MOVED_TO):
                    yield from self._arrived(path, event, departures.get(event.cookie))

    def _arrived(
        self, path: Path, event: InotifyEvent, origin: Path | None
    ) -> Iterator[tuple[str, InotifyEvent]]:
        """Watch a new or renamed directory; return what a new one already contains."""
        found: list[tuple[Path, bool]] = []
        # For a renamed directory inotify_add_watch(2) returns the descriptor that it has, and the
        # new path replaces the old one. A directory may also be gone or unreadable.
        with suppress(FileError):
            self._add(path, path, found)
        if origin is not None:
            self._remove_below(origin)
            return
        for entry, is_dir in found:
            self._listed.add(entry)
            mask = CREATE | IS_DIR if is_dir else CREATE
            yield _shown(entry), InotifyEvent(event.watch, mask, 0, os.fsencode(entry.name))

    def _remove_below(self, path: Path) -> None:
        """Stop watching a directory that has left its path, and all below it."""
        for watch, folder in list(self._folders.items()):
            if folder == path or path in folder.parents:
                del self._folders[watch]
                # It fails if the directory was deleted, which removes the watch as well.
                _LIBC.inotify_rm_watch(self.descriptor, watch)

    def _add(self, folder: Path, asked: Path, found: list[tuple[Path, bool]] | None = None) -> None:
        """Watch a directory and those below it; add all entries to ``found``."""
        with translated_errors(asked), self._roots.held(folder, os.O_DIRECTORY) as held:
            if len(self._folders) >= self._most:
                raise FileError(f"{str(asked)!r}: more than {self._most} directories to watch")
            name = os.fsencode(descriptor_path(held))
            watch = _LIBC.inotify_add_watch(self.descriptor, name, WANTED)
            self._folders[_checked(watch, folder)] = folder
            if not self._recursive or self._only is not None:
                return
            # After the watch was added: an entry is in this list, or its event follows, or both.
            with os.scandir(descriptor_path(held)) as entries:
                inside = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        for name_inside, is_dir in inside:
            if found is not None:
                found.append((folder / name_inside, is_dir))
            if is_dir and name_inside != ".git":
                # A subdirectory that is unreadable or was removed must not end the watch.
                with suppress(MissingFile, Forbidden, BadPath, Unwatchable):
                    self._add(folder / name_inside, asked, found)


def _checked(result: int, path: Path) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise Unwatchable(f"{str(path)!r} cannot be watched: {os.strerror(number)}")
    return result


def _shown(path: Path) -> str:
    return os.fsencode(path).decode("utf-8", "replace")
