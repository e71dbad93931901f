"""Fast start: move the moov box of closed files before their frames, in the background.

A closed file plays, but its moov box is behind the frames, so a browser must request the end of
the file first. The new file has the chapters of the recording and replaces the old one atomically.
It has the same length as the old one: a length that a client has received stays valid, and a
client that reads the old file reads it to its end.
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
"""Bytes that are copied between two checks for cancellation."""

SPARE = 256 << 20
"""Bytes that must stay free on the disk; with less, the moov box stays at the end."""


def embed_description(video: Path, part: Part) -> None:
    """Append the description of a part to its closed file, with room for the chapters."""
    chapters = metadata.chapters_of(part)
    room = len(chapter_list(chapters)) + HEAD if chapters else 0
    describe(video, metadata.document(part), room)


def move_index(
    video: Path, keep_going: Callable[[], bool] = lambda: True, spare: int = SPARE
) -> bool:
    """Move the moov box of a closed file to the front; return True if the file was replaced.

    The copy is abandoned between two pieces once ``keep_going`` returns False.

    Raises:
        UnreadableVideo: If the file is not a closed file of the recorder.
        ValueError: If its description is invalid.
        OSError: If the disk is full or fails.
    """
    draft = video.with_suffix(".moving")
    with video.open("rb") as source:
        closed = _ClosedFile(video, source.fileno())
        # The copy temporarily occupies the size of the file once more.
        if closed.ready or shutil.disk_usage(video.parent).free < closed.size + spare:
            return False
        try:
            # Mode x: two services on one folder must not write the same draft.
            with open(draft, "xb", opener=_private) as target:
                target.write(closed.front())
                target.flush()
                whole = _copied(closed, target.fileno(), keep_going)
                if whole:
                    # The new file is durable before it replaces the old one.
                    os.fsync(target.fileno())
            # A recording that was deleted meanwhile must not reappear.
            if whole := whole and video.exists():
                draft.replace(video)
            return whole
        finally:
            draft.unlink(missing_ok=True)


class FastStart:
    """Thread that processes one file after the other; opened and closed by ``with``."""

    def __init__(self) -> None:
        self._videos: queue.SimpleQueue[Path | None] = queue.SimpleQueue()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="faststart", daemon=True)

    def put(self, video: Path) -> None:
        """Queue a file; the thread processes files in this order."""
        self._videos.put(video)

    def open(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """Stop the thread; the next service processes the remaining files. Idempotent."""
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
    """Closed file: its top-level boxes and the front of its replacement.

    Layout of the replacement: ftyp, moov with chapters, uuid (the description), free, mdat.
    """

    def __init__(self, path: Path, file: int) -> None:
        self._path = path
        self.file = file
        self.size = os.fstat(file).st_size
        boxes = {box.kind: box for box in outermost(file)}
        missing = {b"ftyp", b"mdat", b"moov"} - set(boxes)
        # A moof box means that the file was never closed; `rescue` comes before this.
        if missing or b"moof" in boxes or max(box.end for box in boxes.values()) != self.size:
            raise UnreadableVideo(path.name, "it is not a closed video")
        self._type, self.frames, self._index = boxes[b"ftyp"], boxes[b"mdat"], boxes[b"moov"]
        self.ready = self._index.start < self.frames.start

    def front(self) -> bytes:
        """Return all bytes before the mdat box, sized so that the length of the file is kept."""
        text = description(self._path)
        own = boxed(b"uuid", SIDECAR_BOX.bytes + text.encode()) if text is not None else b""
        index = self._bytes(self._index)
        chapters = metadata.chapters_of(metadata.read(text)) if text is not None else []
        room = self.size - (self.frames.end - self.frames.start) - self._length(self._type)
        # The second try omits the chapters, for files without room for them.
        for moov in (with_chapters(index, chapters), index):
            left = room - len(moov) - len(own)
            # The rest becomes a free box, which cannot be smaller than its own header.
            if left == 0 or left >= HEAD:
                # The chunk offsets in the moov box are absolute, so they move with the frames.
                moved = shifted(moov, self._length(self._type) + room - self.frames.start)
                pad = padding(left) if left else b""
                return self._bytes(self._type) + moved + own + pad
        raise UnreadableVideo(self._path.name, "its parts do not fit into its size")

    def _bytes(self, box: Box) -> bytes:
        return os.pread(self.file, self._length(box), box.start)

    def _length(self, box: Box) -> int:
        return box.end - box.start


def _copied(closed: _ClosedFile, target: int, keep_going: Callable[[], bool]) -> bool:
    """Append the mdat box to ``target``; return False if the copy was abandoned."""
    at, end = closed.frames.start, closed.frames.end
    while at < end and keep_going():
        at += _piece(closed.file, target, at, min(PIECE, end - at))
    return at == end


def _piece(source: int, target: int, at: int, size: int) -> int:
    with suppress(OSError):
        # copy_file_range shares or copies blocks inside the kernel (see copy_file_range(2)). Not
        # every file system supports it; sendfile then copies through the page cache.
        if done := os.copy_file_range(source, target, size, at):
            return done
    if not (done := os.sendfile(target, source, at, size)):
        raise OSError(f"the file ends at {at}")
    return done


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
