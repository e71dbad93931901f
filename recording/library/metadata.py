"""What is known about the files of a recording: the words that are kept beside each video.

While a part is recorded its facts are lines of a journal, only ever appended, so that a kill
loses the last line at most. A closed part is one JSON document. Both give the same ``Part``.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from deskhand.recording.step import Step
from deskhand.recording.timing.timeline import Knot, TimeMap
from deskhand.recording.video.mp4_boxes import Chapter

from .steps import chapters, marks, merged, restored, stored, told

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
"""Ends at which nothing that should have been recorded is missing."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One file of a recording. Times in seconds, real ones from the start of the part."""

    recording_id: str
    index: int
    """Number of the file, counted over everything ever recorded under the id."""
    take: int
    """Counts how often a stopped recording was started again."""
    label: str
    started_at: float
    """Since 1970."""
    knots: tuple[Knot, ...] = ((0.0, 0.0),)
    steps: tuple[Step, ...] = ()
    size: int = 0
    end_reason: EndReason | None = None
    """None while it is recorded."""

    @property
    def real_s(self) -> float:
        """How long was recorded."""
        return self.knots[-1][0]

    @property
    def video_s(self) -> float:
        """How long the video plays."""
        return self.knots[-1][1]

    @property
    def complete(self) -> bool:
        """Whether nothing that should be in it is missing."""
        return self.end_reason in WHOLE


def opening(part: Part) -> str:
    """The first line of a journal."""
    return _line({"opened": _facts(part)})


def seen(knots: Sequence[Knot]) -> str:
    """A line that says how the map of times went on."""
    return _line({"knots": [_rounded(knot) for knot in knots]})


def noted(step: Step) -> str:
    """A line about a step."""
    return _line({"step": stored(step)})


def replayed(lines: Iterable[str]) -> Part | None:
    """The part that a journal tells of; None if not even its first line is whole."""
    part: Part | None = None
    knots: list[Knot] = []
    steps: list[Step] = []
    for line in lines:
        entry = _entry(line)
        if "opened" in entry:
            part = _part(entry["opened"])
        knots += [(real, video) for real, video in entry.get("knots", ())]
        if "step" in entry:
            steps.append(restored(entry["step"]))
    if part is None:
        return None
    return replace(part, knots=simplified([*part.knots, *knots]), steps=merged(steps))


def document(part: Part) -> str:
    """A closed part as JSON."""
    return json.dumps(_facts(part), ensure_ascii=False)


def read(text: str) -> Part:
    """The inverse of ``document``.

    Raises:
        ValueError: If it is none.
    """
    try:
        return _part(json.loads(text))
    except (KeyError, TypeError) as error:
        raise ValueError(f"no description of a part: {error!r}") from error


def simplified(knots: Sequence[Knot]) -> tuple[Knot, ...]:
    """The same map without repeated knots and those on the straight between two others."""
    result: list[Knot] = []
    for knot in knots:
        if result and knot[0] <= result[-1][0]:
            continue
        if len(result) > 1 and _on_one_line(result[-2], result[-1], knot):
            result.pop()
        result.append(knot)
    return tuple(result)


def latest_session(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The parts of the newest take, oldest first."""
    ordered = sorted(parts, key=lambda part: part.index)
    return tuple(part for part in ordered if part.take == ordered[-1].take)


def joined(parts: Sequence[Part]) -> tuple[TimeMap, tuple[Step, ...]]:
    """The map of times and the steps of several parts played one after another."""
    knots: list[Knot] = []
    steps: list[Step] = []
    video = 0.0
    for part in parts:
        real = max(part.started_at - parts[0].started_at, knots[-1][0] if knots else 0.0)
        knots += [(real + knot[0], video + knot[1]) for knot in part.knots]
        steps += [step.moved(real) for step in part.steps]
        video += part.video_s
    return TimeMap(simplified(knots)), merged(steps)


def chapters_of(part: Part) -> list[Chapter]:
    """The chapters of one file."""
    return marks(part.steps, TimeMap(part.knots))


class VideoPiece(NamedTuple):
    """Some of a part; seconds of its own video."""

    part: Part
    start: float
    end: float


def pieces(parts: Sequence[Part], start: float, end: float) -> list[VideoPiece]:
    """What of each part lies between two moments of the whole video."""
    found, begins = [], 0.0
    for part in parts:
        first, last = max(start - begins, 0.0), min(end - begins, part.video_s)
        if first < last:
            found.append(VideoPiece(part, first, last))
        begins += part.video_s
    return found


def vtt(parts: Sequence[Part]) -> str:
    """The chapters of a recording as WebVTT."""
    times, steps = joined(parts)
    return chapters(steps, times)


def metadata(found: Sequence[Part], address: str) -> dict[str, Any]:
    """All that is known of the newest take among some parts, for JSON.

    ``address`` is where its files are served.
    """
    parts = latest_session(found)
    times, steps = joined(parts)
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
        "take": first.take,
        "status": status,
        "recording_status": status,
        "recording_file_id": _file_id(first),
        "recording_file_ids": [_file_id(part) for part in parts],
        "earlier_file_ids": [_file_id(part) for part in found if part.take != first.take],
        "end_reason": last.end_reason,
        "complete": all(part.complete for part in parts),
        "started_at": round(first.started_at, 3),
        "duration_s": round(last.started_at - first.started_at + last.real_s, 3),
        "video_s": round(video, 3),
        "bytes": sum(part.size for part in parts),
        "parts": rows,
        "steps": [
            row | {"picture_url": f"{address}/steps/{row['index']}/picture"}
            for row in told(steps, times, first.started_at)
        ],
        "time_map": [_rounded(knot) for knot in times.knots],
        "video_url": f"{address}/video?part={first.index}",
        "thumbnail_url": f"{address}/thumbnail",
        "steps_url": f"{address}/steps.vtt",
    }


def _file_id(part: Part) -> str:
    """Name of the file: the part's place in the folder of all recordings."""
    return f"{part.recording_id}/{part.index}"


def _on_one_line(a: Knot, b: Knot, c: Knot) -> bool:
    return abs(a[1] + (c[1] - a[1]) * (b[0] - a[0]) / (c[0] - a[0]) - b[1]) < 1e-6


def _facts(part: Part) -> dict[str, Any]:
    facts = dict(vars(part))
    facts["steps"] = [stored(step) for step in part.steps]
    facts["knots"] = [_rounded(knot) for knot in part.knots]
    return facts


def _part(facts: dict[str, Any]) -> Part:
    knots = tuple((real, video) for real, video in facts["knots"])
    steps = tuple(restored(step) for step in facts["steps"])
    return Part(**facts | {"knots": knots, "steps": steps})


def _rounded(knot: Knot) -> tuple[float, float]:
    return round(knot[0], 6), round(knot[1], 6)


def _line(entry: dict[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n"


def _entry(line: str) -> dict[str, Any]:
    # Only the last line can be cut, but a cut line may end anywhere, so any line may fail.
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}
