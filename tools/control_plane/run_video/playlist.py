"""A run's recordings as one film: its files one behind the other, on one clock of video."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from deskhand.tools.control_plane.errors import NoSuchVideoMoment
from deskhand.tools.conversation.views import FileView

from .durations import Json, positions, span

LAST_PICTURE = 0.001
"""So long before its end a film surely shows something."""


class ClipPiece(NamedTuple):
    """Some of one file; seconds of its own video."""

    file: FileView
    start: float
    end: float


@dataclass(frozen=True)
class VideoPart:
    """One file of a film."""

    index: int
    """Its number among the run's files, from 1, whether the others are still there or not."""
    file: FileView
    position: int
    """Which part of its own recording it is."""
    begins: float
    """Where in the film, in seconds of video."""
    opens: float
    """Where on the clock of its own recording."""
    seconds: float

    @property
    def ends(self) -> float:
        """Where the next one begins."""
        return self.begins + self.seconds

    @property
    def end_reason(self) -> str | None:
        """Why the part ended."""
        told = (self.file.metadata.get("parts") or [])[self.position :]
        return told[0].get("end_reason") if told else None

    def steps(self) -> list[Json]:
        """The steps that it shows, at their place in the film."""
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
        """The film of this file only."""
        return RunVideo((replace(self, begins=0.0),))

    def time_map(self, began: float) -> list[tuple[float, float]]:
        """Pairs of seconds since the film ``began`` (unix time), and in the film."""
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
    """What is left of a run's recordings."""

    parts: tuple[VideoPart, ...]

    @property
    def seconds(self) -> float:
        """How long it plays."""
        return self.parts[-1].ends if self.parts else 0.0

    def part(self, index: int | None) -> VideoPart | None:
        """The file of that number, by default the first."""
        return next((one for one in self.parts if index in (None, one.index)), None)

    def steps(self) -> list[Json]:
        """All steps, numbered anew."""
        shown = [step for part in self.parts for step in part.steps()]
        return [step | {"index": index} for index, step in enumerate(shown)]

    def places(self) -> Mapping[str, tuple[float, float]]:
        """Where a tool call is shown, by its id."""
        return {
            step["tool_call_id"]: (step["video_start"], step["video_end"])
            for step in self.steps()
            if step.get("tool_call_id")
        }

    def time_map(self) -> list[tuple[float, float]]:
        """Pairs of seconds since the first recording began, and of video."""
        if not self.parts:
            return []
        began = self.parts[0].file.metadata.get("started_at", 0.0)
        pairs = [pair for part in self.parts for pair in part.time_map(began)]
        # Where two parts meet, both tell of it.
        return list(dict.fromkeys(pairs))

    def pieces(self, start: float, end: float | None) -> list[ClipPiece]:
        """What of each file lies between two moments.

        Raises:
            NoSuchMoment: If that is nothing.
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
        """The file that shows a moment, from there on; of the very end it is the last picture.

        Raises:
            NoSuchMoment: If there is nothing to show.
        """
        return self.pieces(min(at, max(self.seconds - LAST_PICTURE, 0.0)), None)[0]


def run_video(found: Sequence[tuple[int, FileView]]) -> RunVideo:
    """The files that are left, each with its number among all that there were."""
    placed = positions([file.metadata for _, file in found])
    parts: list[VideoPart] = []
    for (index, file), position in zip(found, placed, strict=True):
        opens, closes = span(file.metadata, position) or (0.0, 0.0)
        begins = parts[-1].ends if parts else 0.0
        parts.append(VideoPart(index, file, position, begins, opens, closes - opens))
    return RunVideo(tuple(parts))


def tag(pieces: Sequence[ClipPiece]) -> str:
    """Tells a clip from another one, without cutting it."""
    known = hashlib.sha256()
    for piece in pieces:
        moments = (piece.start.hex(), piece.end.hex())
        known.update(repr((piece.file.sha256 or piece.file.id, *moments)).encode())
    return known.hexdigest()[:32]
