"""Changes below a directory, as server-sent events."""

import asyncio
import ctypes
import os
from collections.abc import AsyncGenerator, Iterator
from contextlib import closing, suppress
from pathlib import Path

from deskhand.vncbridge.http.sse import EventStreamResponse, EventStreams, format_event

from .change_events import IGNORED, OVERFLOW, WANTED, Change, Notice, changes, notices
from .disk import existing, told
from .errors import BadPath, FileError, Forbidden, MissingFile, Unwatchable
from .roots import EVERYWHERE, Roots, place

MOST_WATCHES = 32
"""Watches at once; the system allows a user 128 as a rule (inotify(7))."""
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
        """Watch a directory, with all below it if asked for; a file is watched in its folder.

        Raises:
            FileError: If there is nothing, or nothing that may be watched.
        """
        self._roots = roots
        self._recursive = recursive
        self._most = most
        self._closed = False
        self._folders: dict[int, Path] = {}
        real = existing(path, roots)
        self._only = None if real.is_dir() else real
        self.descriptor = _checked(_LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC), path)
        try:
            self._add(real if self._only is None else real.parent, path)
        except FileError:
            self.close()
            raise

    def close(self) -> None:
        """Watch no more."""
        if not self._closed:
            self._closed = True
            os.close(self.descriptor)

    def read(self) -> list[Change]:
        """Return what has happened since the last read."""
        found: list[tuple[str, Notice]] = []
        with suppress(BlockingIOError):
            while data := os.read(self.descriptor, READ_SIZE):
                found.extend(self._placed(data))
        return changes(found)

    def _placed(self, data: bytes) -> Iterator[tuple[str, Notice]]:
        for notice in notices(data):
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
            if notice.is_dir and self._recursive and self._only is None:
                with suppress(FileError):
                    self._add(path, path)

    def _add(self, folder: Path, asked: Path) -> None:
        with told(asked), self._roots.held(folder, os.O_DIRECTORY) as held:
            if len(self._folders) >= self._most:
                raise FileError(f"{str(asked)!r}: more than {self._most} directories to watch")
            name = os.fsencode(place(held))
            watch = _LIBC.inotify_add_watch(self.descriptor, name, WANTED)
            self._folders[_checked(watch, folder)] = folder
            if not self._recursive or self._only is not None:
                return
            with os.scandir(place(held)) as entries:
                below = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
        for name_below in below:
            if name_below != ".git":
                # What may not be read, or went meanwhile, is no reason to watch nothing.
                with suppress(MissingFile, Forbidden, BadPath, Unwatchable):
                    self._add(folder / name_below, asked)


def watch_response(tree: WatchedTree, watches: EventStreams) -> EventStreamResponse:
    """Return the response that carries the changes of a tree, after the event ``ready``.

    It closes the tree.
    """
    return EventStreamResponse(
        watches, change_events(tree), opening=format_event("ready", {}), resource=closing(tree)
    )


async def change_events(tree: WatchedTree) -> AsyncGenerator[bytes, None]:
    """Yield changes as they come, without end."""
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
