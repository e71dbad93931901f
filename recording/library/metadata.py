"""Metadata of the files of a recording, stored next to each video.

While a part is recorded, its metadata are lines of an append-only journal, so a kill loses at most
the last line. A closed part has one JSON document. Both represent the same ``Part``.

Terms: a *part* is one file; a *session* (``take`` in JSON) is everything between a start and a
stop of a recording and may have several parts.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from deskhand.recording.step import Step
from deskhand.recording.timing.timeline import TimeMap, TimePoint
from deskhand.recording.video.mp4_boxes import Chapter

from .steps import chapters, marks, merged, restored, step_rows, stored

EndReason = Literal[
    "completed",
    "child_error",
    "closed",
    "idle",
    "cap",
    "display_lost",
    "service_lost",
    "disk_full",
    "failed",
]

WHOLE: frozenset[str] = frozenset({"completed", "child_error", "closed", "idle", "cap"})
"""End reasons after which the recording is complete."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One file of a recording. Times in seconds; real times count from the start of the part."""

    recording_id: str
    index: int
    """Number of the file, from 1, over all sessions of the recording id."""
    session_number: int
    """Number of the session, from 1; a stopped recording that starts again begins the next one."""
    label: str
    started_at: float
    """Start in seconds since 1970."""
    points: tuple[TimePoint, ...] = ((0.0, 0.0),)
    steps: tuple[Step, ...] = ()
    size: int = 0
    end_reason: EndReason | None = None
    """None while the part is recorded."""

    @property
    def real_s(self) -> float:
        """Recorded real time."""
        return self.points[-1][0]

    @property
    def video_s(self) -> float:
        """Duration of the video."""
        return self.points[-1][1]

    @property
    def complete(self) -> bool:
        """True if the part ended in order, so nothing is missing."""
        return self.end_reason in WHOLE


def opened_line(part: Part) -> str:
    """Return the first line of a journal."""
    return _line({"opened": _facts(part)})


def points_line(points: Sequence[TimePoint]) -> str:
    """Return a journal line with new points of the time map."""
    return _line({"knots": [_rounded(point) for point in points]})


def step_line(step: Step) -> str:
    """Return a journal line with a step."""
    return _line({"step": stored(step)})


def replay(lines: Iterable[str]) -> Part | None:
    """Return the part that a journal describes; None if its first line is incomplete."""
    part: Part | None = None
    points: list[TimePoint] = []
    steps: list[Step] = []
    for line in lines:
        entry = _entry(line)
        if "opened" in entry:
            part = _part(entry["opened"])
        points += [(real, video) for real, video in entry.get("knots", ())]
        if "step" in entry:
            steps.append(restored(entry["step"]))
    if part is None:
        return None
    return replace(part, points=simplified([*part.points, *points]), steps=merged(steps))


def document(part: Part) -> str:
    """Return a closed part as JSON."""
    return json.dumps(_facts(part), ensure_ascii=False)


def read(text: str) -> Part:
    """Return the part of a ``document``.

    Raises:
        ValueError: If the text is not a document.
    """
    try:
        return _part(json.loads(text))
    except (KeyError, TypeError) as error:
        raise ValueError(f"no description of a part: {error!r}") from error


def simplified(points: Sequence[TimePoint]) -> tuple[TimePoint, ...]:
    """Return the same map without duplicate points and points between two collinear ones."""
    result: list[TimePoint] = []
    for point in points:
        if result and point[0] <= result[-1][0]:
            continue
        if len(result) > 1 and _on_one_line(result[-2], result[-1], point):
            result.pop()
        result.append(point)
    return tuple(result)


def latest_session(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Return the parts of the newest session, oldest first."""
    ordered = sorted(parts, key=lambda part: part.index)
    return tuple(part for part in ordered if part.session_number == ordered[-1].session_number)


def joined(parts: Sequence[Part]) -> tuple[TimeMap, tuple[Step, ...]]:
    """Return the time map and the steps of several parts that play one after another."""
    points: list[TimePoint] = []
    steps: list[Step] = []
    video = 0.0
    for part in parts:
        # Clocks may have been set back between two parts; the map must not fall.
        real = max(part.started_at - parts[0].started_at, points[-1][0] if points else 0.0)
        points += [(real + point[0], video + point[1]) for point in part.points]
        steps += [step.moved(real) for step in part.steps]
        video += part.video_s
    return TimeMap(simplified(points)), merged(steps)


def chapters_of(part: Part) -> list[Chapter]:
    """Return the chapters of one file."""
    return marks(part.steps, TimeMap(part.points))


class VideoPiece(NamedTuple):
    """Stretch of a part; seconds of its own video."""

    part: Part
    start: float
    end: float


def pieces(parts: Sequence[Part], start: float, end: float) -> list[VideoPiece]:
    """Return the stretches of the parts between two moments of the whole video."""
    found, begins = [], 0.0
    for part in parts:
        first, last = max(start - begins, 0.0), min(end - begins, part.video_s)
        if first < last:
            found.append(VideoPiece(part, first, last))
        begins += part.video_s
    return found


def vtt(parts: Sequence[Part]) -> str:
    """Return the steps of a recording as WebVTT."""
    time_map, steps = joined(parts)
    return chapters(steps, time_map)


def summary(found: Sequence[Part], address: str) -> dict[str, Any]:
    """Return the metadata of the newest session among ``found``, for JSON.

    ``address`` is the path under which its files are served.
    """
    parts = latest_session(found)
    time_map, steps = joined(parts)
    first, last = parts[0], parts[-1]
    rows, video = [], 0.0
    for part in parts:
        rows.append(
            {
                "index": part.index,
                "file_id": _file_id(part),
                "bytes": part.size,
                "video_start": round(video, 3),
                "video_s": round(part.video_s, 3),
                "end_reason": part.end_reason,
                "video_url": f"{address}/video?part={part.index}",
            }
        )
        video += part.video_s
    status = "recording" if last.end_reason is None else "stored"
    return {
        "id": first.recording_id,
        "label": first.label,
        "take": first.session_number,
        "status": status,
        "recording_status": status,
        "recording_file_id": _file_id(first),
        "recording_file_ids": [_file_id(part) for part in parts],
        "earlier_file_ids": [
            _file_id(part) for part in found if part.session_number != first.session_number
        ],
        "end_reason": last.end_reason,
        "complete": all(part.complete for part in parts),
        "started_at": round(first.started_at, 3),
        "duration_s": round(last.started_at - first.started_at + last.real_s, 3),
        "video_s": round(video, 3),
        "bytes": sum(part.size for part in parts),
        "parts": rows,
        "steps": [
            row | {"picture_url": f"{address}/steps/{row['index']}/picture"}
            for row in step_rows(steps, time_map, first.started_at)
        ],
        "time_map": [_rounded(point) for point in time_map.points],
        "video_url": f"{address}/video?part={first.index}",
        "thumbnail_url": f"{address}/thumbnail",
        "steps_url": f"{address}/steps.vtt",
    }


def _file_id(part: Part) -> str:
    """Return the id of the file: its path below the folder of all recordings."""
    return f"{part.recording_id}/{part.index}"


def _on_one_line(a: TimePoint, b: TimePoint, c: TimePoint) -> bool:
    # The tolerance equals the rounding of stored points.
    return abs(a[1] + (c[1] - a[1]) * (b[0] - a[0]) / (c[0] - a[0]) - b[1]) < 1e-6


def _facts(part: Part) -> dict[str, Any]:
    # Two keys keep the names that stored recordings have had from the first version on.
    return {
        "recording_id": part.recording_id,
        "index": part.index,
        "take": part.session_number,
        "label": part.label,
        "started_at": part.started_at,
        "knots": [_rounded(point) for point in part.points],
        "steps": [stored(step) for step in part.steps],
        "size": part.size,
        "end_reason": part.end_reason,
    }


def _part(facts: dict[str, Any]) -> Part:
    renamed = {
        "session_number": facts["take"],
        "points": tuple((real, video) for real, video in facts["knots"]),
        "steps": tuple(restored(step) for step in facts["steps"]),
    }
    same = {name: value for name, value in facts.items() if name not in ("take", "knots")}
    return Part(**same | renamed)


def _rounded(point: TimePoint) -> tuple[float, float]:
    # Microseconds: far below the length of a frame, and short in JSON.
    return round(point[0], 6), round(point[1], 6)


def _line(entry: dict[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n"


def _entry(line: str) -> dict[str, Any]:
    # A kill may truncate the last line, also to valid JSON of another type, such as a number.
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}
