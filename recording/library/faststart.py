"""Puts the index of finished files in front, with their chapters, while nothing waits for it.

A closed file plays, but its index is behind the frames, so that a browser must ask for the end
first. The new file is as long as the old one: who was told a length keeps being right, and who
reads the old file reads it to its end.
"""

import logging
import os
import queue
import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from deskhand.recording.errors import UnreadableVideo
from deskhand.recording.video.mp4_boxes import (
    HEAD,
    Box,
    boxed,
    chapter_list,
    padding,
    shifted,
    with_chapters,
)
from deskhand.recording.video.mp4_file import SIDECAR_BOX, describe, description, outermost

from . import metadata
from .metadata import Part

logger = logging.getLogger(__name__)

PIECE = 8 << 20
"""Bytes copied between two looks whether to go on."""

SPARE = 256 << 20
"""Bytes that stay free on the disk; otherwise the index stays where it is."""


def embed_description(video: Path, part: Part) -> None:
    """Write into a closed file what it shows, and keep room for its chapters."""
    chapters = metadata.chapters_of(part)
    room = len(chapter_list(chapters)) + HEAD if chapters else 0
    describe(video, metadata.document(part), room)


def move_index(
    video: Path, keep_going: Callable[[], bool] = lambda: True, spare: int = SPARE
) -> bool:
    """Put a closed file's index in front; whether there was anything to do.

    Gives up between two pieces when ``keep_going`` no longer holds.

    Raises:
        UnreadableFilm: If it is no closed file of ours.
        ValueError: If what it says of itself makes no sense.
        OSError: If there is no room.
    """
    draft = video.with_suffix(".moving")
    with video.open("rb") as source:
        closed = _ClosedFile(video, source.fileno())
        if closed.ready or shutil.disk_usage(video.parent).free < closed.size + spare:
            return False
        try:
            with open(draft, "xb", opener=_private) as target:
                target.write(closed.front())
                target.flush()
                whole = _copied(closed, target.fileno(), keep_going)
                if whole:
                    os.fsync(target.fileno())
            # Who deleted it meanwhile does not want it back.
            if whole := whole and video.exists():
                draft.replace(video)
            return whole
        finally:
            draft.unlink(missing_ok=True)


class FastStart:
    """A thread that moves one file after the other; opened and closed by ``with``."""

    def __init__(self) -> None:
        self._videos: queue.SimpleQueue[Path | None] = queue.SimpleQueue()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mover", daemon=True)

    def put(self, video: Path) -> None:
        """Move that file when those before it are done."""
        self._videos.put(video)

    def open(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """Leave the rest for another day, and end; twice is fine."""
        self._ended.set()
        self._videos.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _run(self) -> None:
        while (video := self._videos.get()) is not None and not self._ended.is_set():
            try:
                move_index(video, lambda: not self._ended.is_set())
            except FileNotFoundError:
                logger.debug("%s was deleted before its index was moved", video)
            except (OSError, ValueError, UnreadableVideo) as error:
                logger.warning("the index of %s stays behind its frames: %s", video, error)


class _ClosedFile:
    """A closed file and what its new beginning will be."""

    def __init__(self, path: Path, file: int) -> None:
        self._path = path
        self.file = file
        self.size = os.fstat(file).st_size
        boxes = {box.kind: box for box in outermost(file)}
        missing = {b"ftyp", b"mdat", b"moov"} - set(boxes)
        if missing or b"moof" in boxes or max(box.end for box in boxes.values()) != self.size:
            raise UnreadableVideo(path.name, "it is not a closed film")
        self._type, self.frames, self._index = boxes[b"ftyp"], boxes[b"mdat"], boxes[b"moov"]
        self.ready = self._index.start < self.frames.start

    def front(self) -> bytes:
        """All that comes before the frames."""
        text = description(self._path)
        own = boxed(b"uuid", SIDECAR_BOX.bytes + text.encode()) if text is not None else b""
        index = self._bytes(self._index)
        chapters = metadata.chapters_of(metadata.read(text)) if text is not None else []
        room = self.size - (self.frames.end - self.frames.start) - self._length(self._type)
        for moov in (with_chapters(index, chapters), index):
            left = room - len(moov) - len(own)
            if left == 0 or left >= HEAD:
                moved = shifted(moov, self._length(self._type) + room - self.frames.start)
                pad = padding(left) if left else b""
                return self._bytes(self._type) + moved + own + pad
        raise UnreadableVideo(self._path.name, "its parts do not fit into its size")

    def _bytes(self, box: Box) -> bytes:
        return os.pread(self.file, self._length(box), box.start)

    def _length(self, box: Box) -> int:
        return box.end - box.start


def _copied(closed: _ClosedFile, target: int, keep_going: Callable[[], bool]) -> bool:
    """Append the frames; whether all are there."""
    at, end = closed.frames.start, closed.frames.end
    while at < end and keep_going():
        at += _piece(closed.file, target, at, min(PIECE, end - at))
    return at == end


def _piece(source: int, target: int, at: int, size: int) -> int:
    with suppress(OSError):
        # Not every file system can; the kernel then copies through its page cache.
        if done := os.copy_file_range(source, target, size, at):
            return done
    if not (done := os.sendfile(target, source, at, size)):
        raise OSError(f"the file ends at {at}")
    return done


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
