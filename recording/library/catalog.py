"""Catalog of the recordings on disk.

Files of part ``n`` of a recording, in ``<folder>/<id>/``:

    <n>.mp4       the video
    <n>.jpg       the thumbnail
    <n>.json      the description of a closed part
    <n>.journal   in place of .json while the part is recorded

States of a part: *recorded* (video and journal), *closed* (video and description), *deleted* (no
description). Every transition is one atomic rename, so a reader always finds a part in one of
them: ``save`` writes the description before it removes the journal, and ``delete`` moves the
description away first. A service that was killed leaves parts in the state *recorded*; ``recover``
closes them before the next recorder starts.

The catalog stores no state of its own: every call reads the disk. So it can serve recordings of
earlier services, and requests need no lock against the recorder.
"""

import logging
import re
import shutil
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from deskhand.recording.errors import (
    InvalidRecordingId,
    NoSuchMoment,
    NotInRecording,
    UnknownRecording,
    UnreadableVideo,
)
from deskhand.recording.video import clips, jpeg, mp4_file

from . import metadata
from .faststart import embed_description
from .metadata import Part

logger = logging.getLogger(__name__)

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

CLIP = ".clip"
RESERVE = ".ballast"
"""Suffix of the file that reserves space for the end of a part."""

UNFINISHED = (".moving", ".draft", ".rescued", CLIP, RESERVE)
"""Suffixes of temporary files, which are useless once their service is gone."""

ADDRESS = "/api/v0/desktop/recordings"


def checked(recording_id: str) -> str:
    """Return the id in lower case.

    Raises:
        InvalidRecordingId: If the id is not a UUID. The id becomes a folder name, so the check
            also prevents path traversal.
    """
    spelled = recording_id.lower()
    if _UUID.fullmatch(spelled) is None:
        raise InvalidRecordingId
    return spelled


class Paths(NamedTuple):
    """Paths of the files of one part."""

    video: Path
    document: Path
    journal: Path
    thumbnail: Path


class Clip(NamedTuple):
    """Clip that was cut from a recording."""

    file: BinaryIO
    """Unlinked file: the kernel frees it when it is closed."""
    tag: str
    """Entity tag; equal tags mean equal bytes."""


class Catalog:
    """Recordings of one folder, including those of earlier services."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def folder(self) -> Path:
        """Folder of all recordings."""
        return self._folder

    def paths(self, recording_id: str, index: int) -> Paths:
        """Return the paths of the files of a part; the files may not exist."""
        stem = self._folder / checked(recording_id) / str(index)
        return Paths(*(stem.with_suffix(f".{end}") for end in ("mp4", "json", "journal", "jpg")))

    def parts(self, recording_id: str) -> tuple[Part, ...]:
        """Return all parts of all sessions, oldest first; empty for an unknown id."""
        found = (self._part(recording_id, index) for index in self._indices(recording_id))
        # A part may be deleted between the listing and the reading.
        return tuple(part for part in found if part is not None)

    def latest_session(self, recording_id: str) -> tuple[Part, ...]:
        """Return the parts of the newest session.

        Raises:
            UnknownRecording: If there is none.
        """
        found = self.parts(recording_id)
        if not found:
            raise UnknownRecording(recording_id)
        return metadata.latest_session(found)

    def next_index(self, recording_id: str) -> int:
        """Return the index of the next part."""
        return max(self._indices(recording_id), default=0) + 1

    def get(self, recording_id: str) -> dict[str, Any]:
        """Return the metadata of the newest session, for JSON.

        Raises:
            UnknownRecording: If there is none.
        """
        found = self.parts(recording_id)
        if not found:
            raise UnknownRecording(recording_id)
        return metadata.summary(found, f"{ADDRESS}/{checked(recording_id)}")

    def list(self) -> Sequence[dict[str, Any]]:
        """Return the metadata of all recordings, newest first, without steps and time map."""
        # Each recording is read once, because a second read could fail after a deletion.
        known = ((name, self.parts(name)) for name in self._ids())
        found = [metadata.summary(files, f"{ADDRESS}/{name}") for name, files in known if files]
        for one in found:
            del one["steps"], one["time_map"]
        return sorted(found, key=lambda one: float(one["started_at"]), reverse=True)

    def video(self, recording_id: str, index: int | None = None) -> Path:
        """Return the video of a part, by default of the first part of the newest session.

        Raises:
            UnknownRecording: If there is none.
        """
        parts = self.latest_session(recording_id)
        wanted = parts[0].index if index is None else index
        path = self.paths(recording_id, wanted).video
        if not path.exists():
            raise NotInRecording(recording_id, "part", wanted)
        return path

    def thumbnail(self, recording_id: str) -> Path:
        """Return the thumbnail of the newest session.

        Raises:
            UnknownRecording: If there is none.
        """
        for part in self.latest_session(recording_id):
            drawn = self.paths(recording_id, part.index).thumbnail
            if drawn.exists():
                return drawn
        raise NotInRecording(recording_id, "thumbnail")

    def clip(self, recording_id: str, start: float, end: float | None) -> Clip:
        """Cut a clip from the newest session.

        ``start`` and ``end`` are seconds of video; None is the end of the video.

        Raises:
            UnknownRecording: If there is none.
            NoSuchMoment: If the video has nothing between the two moments.
        """
        stretches = self._stretches(recording_id, start, end)
        # A random name, because two requests may cut the same clip at once.
        target = self._folder / checked(recording_id) / f"{uuid.uuid4()}{CLIP}"
        try:
            tag = clips.tag(stretches)
            clips.cut(stretches, target)
            # The open file outlives its name, so a client that disconnects leaves nothing behind.
            return Clip(target.open("rb"), tag)
        finally:
            target.unlink(missing_ok=True)

    def clip_tag(self, recording_id: str, start: float, end: float | None) -> str:
        """Return the entity tag of a clip without cutting it; raise the same as :meth:`clip`."""
        return clips.tag(self._stretches(recording_id, start, end))

    def step_picture(self, recording_id: str, index: int) -> bytes:
        """Return a small JPEG of the frame at the end of a step of the newest session.

        Raises:
            UnknownRecording: If there is none, or no such step.
            NoSuchMoment: If the video does not reach the step yet.
        """
        parts = self.latest_session(recording_id)
        time_map, steps = metadata.joined(parts)
        if not 0 <= index < len(steps):
            raise NotInRecording(recording_id, "step", index)
        at = time_map.video(steps[index].ended)
        # At the very end of the video no stretch is left, so the last millisecond is used.
        found = metadata.pieces(parts, at, inf) or metadata.pieces(parts, max(0.0, at - 0.001), inf)
        if not found:
            raise NoSuchMoment(f"step {index} is not shown yet", time_map.end[1])
        video = self.paths(recording_id, found[0].part.index).video
        return clips.still(video, found[0].start)

    def steps_vtt(self, recording_id: str) -> str:
        """Return the steps of the newest session as WebVTT.

        Raises:
            UnknownRecording: If there is none.
        """
        return metadata.vtt(self.latest_session(recording_id))

    def save(self, part: Part) -> None:
        """Write the description of a closed part and remove its journal."""
        paths = self.paths(part.recording_id, part.index)
        text = metadata.document(part)
        draft = paths.document.with_suffix(".draft")
        draft.write_text(text, encoding="utf-8")
        # The rename is atomic, so a reader never sees half a document.
        draft.replace(paths.document)
        paths.journal.unlink(missing_ok=True)

    def delete(self, recording_id: str, session_number: int | None = None) -> None:
        """Remove all files of a recording, or those of one session.

        Raises:
            UnknownRecording: If there are none.
        """
        found = self.parts(recording_id)
        doomed = [part for part in found if session_number in (None, part.session_number)]
        if not found:
            raise UnknownRecording(recording_id)
        if not doomed:
            raise NotInRecording(recording_id, "take", session_number)
        # One rename hides the recording from other requests; open files stay readable.
        away = self._folder / f".deleted-{uuid.uuid4()}"
        if len(doomed) == len(found):
            (self._folder / checked(recording_id)).rename(away)
        else:
            away.mkdir()
            for part in doomed:
                self._put_away(self.paths(recording_id, part.index), away)
        shutil.rmtree(away, ignore_errors=True)

    def _stretches(
        self, recording_id: str, start: float, end: float | None
    ) -> Sequence[clips.Stretch]:
        parts = self.latest_session(recording_id)
        whole = sum(part.video_s for part in parts)
        until = whole if end is None else end
        found = metadata.pieces(parts, start, until)
        if not found:
            raise NoSuchMoment(f"nothing lies between {start:g} and {until:g}", whole)
        return [
            clips.Stretch(self.paths(recording_id, piece.part.index).video, piece.start, piece.end)
            for piece in found
        ]

    def _put_away(self, paths: Paths, away: Path) -> None:
        # The description is first: a video without one is no part any more.
        for path in (paths.document, paths.video, paths.thumbnail):
            if path.exists():
                path.rename(away / path.name)

    def recover(self) -> tuple[str, ...]:
        """Close the parts that a killed service left open; return the ids of their recordings.

        The call blocks and reads whole files. No recorder may use the folder at the same time. A
        part for which the disk has no room stays as it is until the next start.
        """
        rescued = []
        self._sweep()
        for journal in sorted(self._folder.glob("*/*.journal")):
            part = metadata.replay(_lines(journal))
            paths = Paths(
                *(journal.with_suffix(f".{e}") for e in ("mp4", "json", "journal", "jpg"))
            )
            try:
                if part is not None and self._rescue(part, paths):
                    rescued.append(part.recording_id)
                else:
                    journal.unlink()
                    paths.video.unlink(missing_ok=True)
            except OSError as error:
                logger.warning("a recording is made whole another time: %s", error)
        return tuple(rescued)

    def closed(self) -> Iterator[Path]:
        """Iterate over the videos of closed parts."""
        for document in sorted(self._folder.glob("*/*.json")):
            if document.with_suffix(".mp4").exists():
                yield document.with_suffix(".mp4")

    def _sweep(self) -> None:
        """Remove temporary files and half-deleted recordings of a killed service."""
        for unfinished in UNFINISHED:
            for path in self._folder.glob(f"*/*{unfinished}"):
                path.unlink(missing_ok=True)
        for doomed in self._folder.glob(".deleted-*"):
            shutil.rmtree(doomed, ignore_errors=True)

    def _rescue(self, part: Part, paths: Paths) -> bool:
        try:
            left = mp4_file.rescue(paths.video)
        except UnreadableVideo as error:
            logger.warning("a recording was lost: %s", error)
            return False
        # The journal may lag behind the video by MAP_INTERVAL. That stretch counts as activity,
        # which plays at normal speed, so its real time equals its video time.
        missing = max(0.0, left.video_s - part.video_s)
        end = (part.real_s + missing, part.video_s + missing)
        points = metadata.simplified([*part.points, end])
        part = replace(part, points=points, end_reason="service_lost")
        embed_description(paths.video, part)
        if not paths.thumbnail.exists():
            paths.thumbnail.write_bytes(jpeg.jpeg(jpeg.downscaled(left.best_key)))
        # The size is read after the description was appended to the file.
        self.save(replace(part, size=paths.video.stat().st_size))
        return True

    def _part(self, recording_id: str, index: int) -> Part | None:
        paths = self.paths(recording_id, index)
        # A part that is closed in this moment may have lost its journal after the first attempt,
        # but then its document exists.
        for read in (self._document, self._journal, self._document):
            try:
                return read(paths)
            except FileNotFoundError:
                continue
            except ValueError as error:
                logger.warning("%s is not described: %s", paths.video, error)
        return None

    def _document(self, paths: Paths) -> Part | None:
        return metadata.read(paths.document.read_text(encoding="utf-8"))

    def _journal(self, paths: Paths) -> Part | None:
        part = metadata.replay(_lines(paths.journal))
        return part and replace(part, size=paths.video.stat().st_size)

    def _ids(self) -> Iterator[str]:
        for path in sorted(self._folder.glob("*/")):
            if _UUID.fullmatch(path.name):
                yield path.name

    def _indices(self, recording_id: str) -> Sequence[int]:
        videos = (self._folder / checked(recording_id)).glob("*.mp4")
        return sorted(int(path.stem) for path in videos if path.stem.isdecimal())


def _lines(journal: Path) -> list[str]:
    # A kill may have truncated a UTF-8 sequence.
    return journal.read_text(encoding="utf-8", errors="replace").splitlines()
