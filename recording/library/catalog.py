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
    UnreadableFilm,
)
from deskhand.recording.video import clips
from deskhand.recording.video import jpeg as stills
from deskhand.recording.video import mp4_file as container

from . import metadata as parts
from .disk_reserve import RESERVE
from .faststart import remember
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

    def take(self, recording_id: str) -> tuple[Part, ...]:
        """The parts of the newest take.

        Raises:
            UnknownRecording: If there is none.
        """
        found = self.parts(recording_id)
        if not found:
            raise UnknownRecording(recording_id)
        return parts.latest_session(found)

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
        return parts.metadata(found, f"{ADDRESS}/{checked(recording_id)}")

    def list(self) -> Sequence[dict[str, Any]]:
        """All recordings, newest first, without steps and times."""
        # Each is read once: it may be deleted meanwhile.
        known = ((name, self.parts(name)) for name in self._ids())
        found = [parts.metadata(files, f"{ADDRESS}/{name}") for name, files in known if files]
        for one in found:
            del one["steps"], one["time_map"]
        return sorted(found, key=lambda one: float(one["started_at"]), reverse=True)

    def video(self, recording_id: str, index: int | None = None) -> Path:
        """The file of a part, by default of the first of the newest take.

        Raises:
            UnknownRecording: If there is none.
        """
        take = self.take(recording_id)
        wanted = take[0].index if index is None else index
        path = self.paths(recording_id, wanted).video
        if not path.exists():
            raise NotInRecording(recording_id, "part", wanted)
        return path

    def thumbnail(self, recording_id: str) -> Path:
        """The picture that stands for the newest take.

        Raises:
            UnknownRecording: If there is none.
        """
        for part in self.take(recording_id):
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
        take = self.take(recording_id)
        whole = sum(part.video_s for part in take)
        until = whole if end is None else end
        found = parts.pieces(take, start, until)
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
        take = self.take(recording_id)
        times, steps = parts.joined(take)
        if not 0 <= index < len(steps):
            raise NotInRecording(recording_id, "step", index)
        at = times.video(steps[index].ended)
        found = parts.pieces(take, at, inf) or parts.pieces(take, max(0.0, at - 0.001), inf)
        if not found:
            raise NoSuchMoment(f"step {index} is not shown yet", times.end[1])
        video = self.paths(recording_id, found[0].part.index).video
        return stills.jpeg(stills.shrunk(clips.picture(video, found[0].start)))

    def steps_vtt(self, recording_id: str) -> str:
        """The chapters of the newest take.

        Raises:
            UnknownRecording: If there is none.
        """
        return parts.vtt(self.take(recording_id))

    def save(self, part: Part) -> None:
        """Write the description of a closed part; its journal is not needed any more."""
        paths = self.paths(part.recording_id, part.index)
        text = parts.document(part)
        draft = paths.document.with_suffix(".draft")
        draft.write_text(text, encoding="utf-8")
        draft.replace(paths.document)
        paths.journal.unlink(missing_ok=True)

    def delete(self, recording_id: str, take: int | None = None) -> None:
        """Remove all files, or those of one take.

        Raises:
            UnknownRecording: If there are none.
        """
        found = self.parts(recording_id)
        doomed = [part for part in found if take in (None, part.take)]
        if not found:
            raise UnknownRecording(recording_id)
        if not doomed:
            raise NotInRecording(recording_id, "take", take)
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
            part = parts.replayed(_lines(journal))
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
            left = container.rescue(paths.video)
        except UnreadableFilm as error:
            logger.warning("a recording was lost: %s", error)
            return False
        # The journal may lag behind the video; what it did not tell of was activity.
        missing = max(0.0, left.video_s - part.video_s)
        end = (part.real_s + missing, part.video_s + missing)
        knots = parts.simplified([*part.knots, end])
        part = replace(part, knots=knots, end_reason="service_lost")
        remember(paths.video, part)
        if not paths.thumbnail.exists():
            paths.thumbnail.write_bytes(stills.jpeg(stills.shrunk(left.last_key)))
        self.save(replace(part, size=paths.video.stat().st_size))
        return True

    def _part(self, recording_id: str, index: int) -> Part | None:
        paths = self.paths(recording_id, index)
        # A part that is closed just now has its document before it loses its journal.
        for look in (self._document, self._journal, self._document):
            try:
                return look(paths)
            except FileNotFoundError:
                continue
            except ValueError as error:
                logger.warning("%s is not described: %s", paths.video, error)
        return None

    def _document(self, paths: Paths) -> Part | None:
        return parts.read(paths.document.read_text(encoding="utf-8"))

    def _journal(self, paths: Paths) -> Part | None:
        part = parts.replayed(_lines(paths.journal))
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
