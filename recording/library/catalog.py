"""The recordings on disk: ``<folder>/<id>/<n>.mp4``, with ``.json``, ``.jpg`` and ``.vtt`` words.

A part that is still recorded has a ``.journal`` instead of the ``.json``.
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
from .disk_reserve import RESERVE
from .faststart import embed_description
from .metadata import Part

logger = logging.getLogger(__name__)

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

CLIP = ".clip"

UNFINISHED = (".moving", ".draft", ".rescued", CLIP, RESERVE)
"""Ends of names of files that mean nothing once their service is gone."""

ADDRESS = "/api/v0/desktop/recordings"


def checked(recording_id: str) -> str:
    """The id in its one spelling.

    Raises:
        InvalidRecordingId: If it is no UUID; it becomes a path name.
    """
    spelled = recording_id.lower()
    if _UUID.fullmatch(spelled) is None:
        raise InvalidRecordingId
    return spelled


class Paths(NamedTuple):
    """The files of one part."""

    video: Path
    document: Path
    journal: Path
    thumbnail: Path


class Clip(NamedTuple):
    """A stretch of a video."""

    file: BinaryIO
    """It vanishes when it is closed."""
    tag: str
    """The same for as long as the same request gives the same bytes."""


class Catalog:
    """Finds recordings, also those of an earlier service."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def folder(self) -> Path:
        """Where the recordings lie."""
        return self._folder

    def paths(self, recording_id: str, index: int) -> Paths:
        """The names of a part's files, whether they exist or not."""
        stem = self._folder / checked(recording_id) / str(index)
        return Paths(*(stem.with_suffix(f".{end}") for end in ("mp4", "json", "journal", "jpg")))

    def parts(self, recording_id: str) -> tuple[Part, ...]:
        """All parts of all takes, oldest first; empty for an unknown id."""
        found = (self._part(recording_id, index) for index in self._indices(recording_id))
        return tuple(part for part in found if part is not None)

    def latest_session(self, recording_id: str) -> tuple[Part, ...]:
        """The parts of the newest take.

        Raises:
            UnknownRecording: If there is none.
        """
        found = self.parts(recording_id)
        if not found:
            raise UnknownRecording(recording_id)
        return metadata.latest_session(found)

    def next_index(self, recording_id: str) -> int:
        """The number of the next file under the id."""
        return max(self._indices(recording_id), default=0) + 1

    def get(self, recording_id: str) -> dict[str, Any]:
        """What is known of the newest take, for JSON.

        Raises:
            UnknownRecording: If there is none.
        """
        found = self.parts(recording_id)
        if not found:
            raise UnknownRecording(recording_id)
        return metadata.summary(found, f"{ADDRESS}/{checked(recording_id)}")

    def list(self) -> Sequence[dict[str, Any]]:
        """All recordings, newest first, without steps and times."""
        # Each is read once: it may be deleted meanwhile.
        known = ((name, self.parts(name)) for name in self._ids())
        found = [metadata.summary(files, f"{ADDRESS}/{name}") for name, files in known if files]
        for one in found:
            del one["steps"], one["time_map"]
        return sorted(found, key=lambda one: float(one["started_at"]), reverse=True)

    def video(self, recording_id: str, index: int | None = None) -> Path:
        """The file of a part, by default of the first of the newest take.

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
        """The picture that stands for the newest take.

        Raises:
            UnknownRecording: If there is none.
        """
        for part in self.latest_session(recording_id):
            drawn = self.paths(recording_id, part.index).thumbnail
            if drawn.exists():
                return drawn
        raise NotInRecording(recording_id, "thumbnail")

    def clip(self, recording_id: str, start: float, end: float | None) -> Clip:
        """A stretch of the newest take.

        Seconds of video; None is the end.

        Raises:
            UnknownRecording: If there is none.
            NoSuchMoment: If the stretch is empty.
        """
        parts = self.latest_session(recording_id)
        whole = sum(part.video_s for part in parts)
        until = whole if end is None else end
        found = metadata.pieces(parts, start, until)
        if not found:
            raise NoSuchMoment(f"nothing lies between {start:g} and {until:g}", whole)
        stretches = [
            clips.Stretch(self.paths(recording_id, piece.part.index).video, piece.start, piece.end)
            for piece in found
        ]
        target = stretches[0].video.with_name(f"{uuid.uuid4()}{CLIP}")
        try:
            tag = clips.tag(stretches)
            clips.cut(stretches, target)
            return Clip(target.open("rb"), tag)
        finally:
            target.unlink(missing_ok=True)

    def step_picture(self, recording_id: str, index: int) -> bytes:
        """A small JPEG of what the screen showed when a step of the newest take had ended.

        Raises:
            UnknownRecording: If there is none, or no such step.
            NoSuchMoment: If the video does not go so far yet.
        """
        parts = self.latest_session(recording_id)
        time_map, steps = metadata.joined(parts)
        if not 0 <= index < len(steps):
            raise NotInRecording(recording_id, "step", index)
        at = time_map.video(steps[index].ended)
        found = metadata.pieces(parts, at, inf) or metadata.pieces(parts, max(0.0, at - 0.001), inf)
        if not found:
            raise NoSuchMoment(f"step {index} is not shown yet", time_map.end[1])
        video = self.paths(recording_id, found[0].part.index).video
        return jpeg.jpeg(jpeg.downscaled(clips.picture(video, found[0].start)))

    def steps_vtt(self, recording_id: str) -> str:
        """The chapters of the newest take.

        Raises:
            UnknownRecording: If there is none.
        """
        return metadata.vtt(self.latest_session(recording_id))

    def save(self, part: Part) -> None:
        """Write the description of a closed part; its journal is not needed any more."""
        paths = self.paths(part.recording_id, part.index)
        text = metadata.document(part)
        draft = paths.document.with_suffix(".draft")
        draft.write_text(text, encoding="utf-8")
        draft.replace(paths.document)
        paths.journal.unlink(missing_ok=True)

    def delete(self, recording_id: str, session_number: int | None = None) -> None:
        """Remove all files, or those of one take.

        Raises:
            UnknownRecording: If there are none.
        """
        found = self.parts(recording_id)
        doomed = [part for part in found if session_number in (None, part.session_number)]
        if not found:
            raise UnknownRecording(recording_id)
        if not doomed:
            raise NotInRecording(recording_id, "take", session_number)
        # Out of sight in one step, whoever still reads or moves a file of it.
        away = self._folder / f".deleted-{uuid.uuid4()}"
        if len(doomed) == len(found):
            (self._folder / checked(recording_id)).rename(away)
        else:
            away.mkdir()
            for part in doomed:
                self._put_away(self.paths(recording_id, part.index), away)
        shutil.rmtree(away, ignore_errors=True)

    def _put_away(self, paths: Paths, away: Path) -> None:
        # The description first: what has none is no part any more.
        for path in (paths.document, paths.video, paths.thumbnail):
            if path.exists():
                path.rename(away / path.name)

    def recover(self) -> tuple[str, ...]:
        """Make whole what a dead service left; the ids it found. Blocks, and reads whole files.

        Only for the time before a recorder works in the folder. What the disk has no room for
        stays as it is, for the next time.
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
        """The videos that are described."""
        for document in sorted(self._folder.glob("*/*.json")):
            if document.with_suffix(".mp4").exists():
                yield document.with_suffix(".mp4")

    def _sweep(self) -> None:
        """Remove what a dead service was making."""
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
        # The journal may lag behind the video; what it did not tell of was activity.
        missing = max(0.0, left.video_s - part.video_s)
        end = (part.real_s + missing, part.video_s + missing)
        points = metadata.simplified([*part.points, end])
        part = replace(part, points=points, end_reason="service_lost")
        embed_description(paths.video, part)
        if not paths.thumbnail.exists():
            paths.thumbnail.write_bytes(jpeg.jpeg(jpeg.downscaled(left.last_key)))
        self.save(replace(part, size=paths.video.stat().st_size))
        return True

    def _part(self, recording_id: str, index: int) -> Part | None:
        paths = self.paths(recording_id, index)
        # A part that is closed just now has its document before it loses its journal.
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
    return journal.read_text(encoding="utf-8", errors="replace").splitlines()
