"""The run video: a run's recordings as one video. Pure.

A run may have several recordings, one for each turn, and each recording several files (parts), as
the recorder begins a new file at a size limit. There are three clocks:

- real time: Unix seconds;
- the time of one recording's video, in the metadata of its files (steps, time map). It is shorter
  than real time, as idle periods are cut down;
- the time of the run video: the parts one after the other, without the gaps of removed files.

:class:`VideoPart` converts from the second clock to the third by one addition.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from deskhand.tools.control_plane.errors import NoSuchVideoMoment
from deskhand.tools.conversation.views import FileView

from .durations import Json, positions, span

LAST_PICTURE = 0.001
"""Seconds before the end at which a video certainly shows a picture: no frame is shorter."""


class ClipPiece(NamedTuple):
    """A span of one file, in seconds of its own video."""

    file: FileView
    start: float
    end: float


@dataclass(frozen=True)
class VideoPart:
    """One file of a run video."""

    index: int
    """Number among all files of the run, from 1; it stays when others are removed."""
    file: FileView
    position: int
    """Index of the part in its own recording."""
    begins: float
    """Start in the run video, in seconds."""
    opens: float
    """Start in the video of its own recording, in seconds."""
    seconds: float

    @property
    def ends(self) -> float:
        """End in the run video, where the next part begins."""
        return self.begins + self.seconds

    @property
    def end_reason(self) -> str | None:
        """Reason for which the recorder ended the part."""
        parts_metadata = (self.file.metadata.get("parts") or [])[self.position :]
        return parts_metadata[0].get("end_reason") if parts_metadata else None

    def steps(self) -> list[Json]:
        """Return the steps that begin in this part, with their times in the run video."""
        # The last part also gets steps that begin at its very end, or after it, as no other part
        # can.
        closes = self.opens + self.seconds
        is_last = self.position + 1 >= len(self.file.metadata.get("parts") or [])
        return [
            step
            | {
                "video_start": self._in_run_video(step["video_start"]),
                "video_end": self._in_run_video(step.get("video_end", step["video_start"])),
            }
            for step in self.file.metadata.get("steps") or []
            if self.opens <= step["video_start"] and (step["video_start"] < closes or is_last)
        ]

    def alone(self) -> "RunVideo":
        """Return a run video of this part only."""
        return RunVideo((replace(self, begins=0.0),))

    def time_map(self, began: float) -> list[tuple[float, float]]:
        """Return pairs of real seconds since ``began`` (Unix time) and of the run video."""
        # Real times of a time map count from the start of its own recording.
        late = self.file.metadata.get("started_at", began) - began
        closes = self.opens + self.seconds
        return [
            (round(late + real, 6), self._in_run_video(video))
            for real, video in self.file.metadata.get("time_map") or []
            if self.opens <= video <= closes
        ]

    def _in_run_video(self, video: float) -> float:
        return round(self.begins + video - self.opens, 3)


@dataclass(frozen=True)
class RunVideo:
    """The files of a run's recordings that still exist, as one video."""

    parts: tuple[VideoPart, ...]

    @property
    def seconds(self) -> float:
        """Duration of the video."""
        return self.parts[-1].ends if self.parts else 0.0

    def part(self, index: int | None) -> VideoPart | None:
        """Return the part with a number, by default the first; ``None`` if it does not exist."""
        return next((one for one in self.parts if index in (None, one.index)), None)

    def steps(self) -> list[Json]:
        """Return the steps of all parts, renumbered from 0."""
        shown = [step for part in self.parts for step in part.steps()]
        return [step | {"index": index} for index, step in enumerate(shown)]

    def positions_by_call(self) -> Mapping[str, tuple[float, float]]:
        """Return start and end of each tool call in the video, by the call's id."""
        return {
            step["tool_call_id"]: (step["video_start"], step["video_end"])
            for step in self.steps()
            if step.get("tool_call_id")
        }

    def time_map(self) -> list[tuple[float, float]]:
        """Return pairs of real seconds since the first recording began and of the video."""
        if not self.parts:
            return []
        began = self.parts[0].file.metadata.get("started_at", 0.0)
        pairs = [pair for part in self.parts for pair in part.time_map(began)]
        # Both parts have the pair of the moment at which they meet.
        return list(dict.fromkeys(pairs))

    def pieces(self, start: float, end: float | None) -> list[ClipPiece]:
        """Return the spans of the files that lie between two times.

        Raises:
            NoSuchVideoMoment: If there are none.
        """
        until = self.seconds if end is None else end
        found = [
            ClipPiece(part.file, first, last)
            for part in self.parts
            if (first := max(start - part.begins, 0.0))
            < (last := min(until - part.begins, part.seconds))
        ]
        if not found:
            raise NoSuchVideoMoment(f"nothing lies between {start:g} and {until:g}", self.seconds)
        return found

    def moment(self, at: float) -> ClipPiece:
        """Return the span that begins at a time; a time after the end selects the last picture.

        Raises:
            NoSuchVideoMoment: If the video is empty.
        """
        return self.pieces(min(at, max(self.seconds - LAST_PICTURE, 0.0)), None)[0]


def run_video(found: Sequence[tuple[int, FileView]]) -> RunVideo:
    """Return the video of the files that still exist, each given with its number among all."""
    placed = positions([file.metadata for _, file in found])
    parts: list[VideoPart] = []
    for (index, file), position in zip(found, placed, strict=True):
        opens, closes = span(file.metadata, position) or (0.0, 0.0)
        begins = parts[-1].ends if parts else 0.0
        parts.append(VideoPart(index, file, position, begins, opens, closes - opens))
    return RunVideo(tuple(parts))


def clip_etag(pieces: Sequence[ClipPiece]) -> str:
    """Return an entity tag for a clip, computed without cutting it."""
    # The bytes of a cut depend only on the files and the times: ``hex`` keeps every bit of these.
    known = hashlib.sha256()
    for piece in pieces:
        moments = (piece.start.hex(), piece.end.hex())
        known.update(repr((piece.file.sha256 or piece.file.id, *moments)).encode())
    return known.hexdigest()[:32]
