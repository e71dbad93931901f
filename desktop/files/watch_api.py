"""Changes below a directory as server-sent events, read from inotify(7)."""

import asyncio
import ctypes
import os
from collections.abc import AsyncGenerator, Iterator
from contextlib import closing, suppress
from pathlib import Path

from deskhand.vncbridge.http.sse import EventStreamResponse, EventStreams, format_event

from .change_events import IGNORED, OVERFLOW, WANTED, Change, InotifyEvent, changes, parse_events
from .disk import existing, translated_errors
from .errors import BadPath, FileError, Forbidden, MissingFile, Unwatchable
from .roots import EVERYWHERE, Roots, descriptor_path

MOST_WATCHES = 32
"""Concurrent watches; the kernel permits 128 inotify instances per user by default."""
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
        found: list[tuple[str, InotifyEvent]] = []
        with suppress(BlockingIOError):
            # Reads until EAGAIN, so that both events of a rename are usually in one batch.
            while data := os.read(self.descriptor, READ_SIZE):
                found.extend(self._placed(data))
        return changes(found)

    def _placed(self, data: bytes) -> Iterator[tuple[str, InotifyEvent]]:
        for notice in parse_events(data):
            if notice.mask & IGNORED:
                self._folders.pop(notice.watch, None)
                continue
            folder = self._folders.get(notice.watch)
            if notice.mask & OVERFLOW or folder is None:
                yield "", notice
                continue
            path = folder / os.fsdecode(notice.name)
            if self._only is None or path == self._only:
                yield _shown(path), notice
            # A new directory gets a watch. For a renamed one inotify_add_watch(2) returns the
            # descriptor that it has, and the new path replaces the old one; a deleted one raises
            # MissingFile.
            if notice.is_dir and self._recursive and self._only is None:
                with suppress(FileError):
                    self._add(path, path)

    def _add(self, folder: Path, asked: Path) -> None:
        with translated_errors(asked), self._roots.held(folder, os.O_DIRECTORY) as held:
            if len(self._folders) >= self._most:
                raise FileError(f"{str(asked)!r}: more than {self._most} directories to watch")
            name = os.fsencode(descriptor_path(held))
            watch = _LIBC.inotify_add_watch(self.descriptor, name, WANTED)
            self._folders[_checked(watch, folder)] = folder
            if not self._recursive or self._only is not None:
                return
            with os.scandir(descriptor_path(held)) as entries:
                below = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
        for name_below in below:
            if name_below != ".git":
                # A subdirectory that is unreadable or was removed must not end the watch.
                with suppress(MissingFile, Forbidden, BadPath, Unwatchable):
                    self._add(folder / name_below, asked)


def watch_response(tree: WatchedTree, watches: EventStreams) -> EventStreamResponse:
    """Return a stream of the changes of a tree, after the event ``ready``; it closes the tree."""
    return EventStreamResponse(
        watches, change_events(tree), opening=format_event("ready", {}), resource=closing(tree)
    )


async def change_events(tree: WatchedTree) -> AsyncGenerator[bytes, None]:
    """Yield changes as they arrive, without end."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(tree.descriptor, ready.set)
    try:
        while True:
            await ready.wait()
            ready.clear()
            for change in await asyncio.to_thread(tree.read):
                yield format_event("change", change.to_json())
    finally:
        loop.remove_reader(tree.descriptor)


def _checked(result: int, path: Path) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise Unwatchable(f"{str(path)!r} cannot be watched: {os.strerror(number)}")
    return result


def _shown(path: Path) -> str:
    return os.fsencode(path).decode("utf-8", "replace")
