"""Steps of a recording on the clock of the video: JSON rows, WebVTT and chapters."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

from deskhand.recording.step import Step
from deskhand.recording.timing.timeline import TimeMap
from deskhand.recording.video.mp4_boxes import Chapter

SHORTEST_CUE = 0.2
"""Shortest WebVTT cue in seconds; a shorter one could not be read or clicked."""


def merged(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Sort steps by time and merge the reports of one tool call from two sides.

    The desktop service knows the action, the caller knows tool and title. Two *actions* of one
    call (a batch) stay two steps.
    """
    result: list[Step] = []
    of_call: dict[str, int] = {}
    for step in steps:
        known = of_call.get(step.tool_call_id) if step.tool_call_id else None
        if known is not None and not (result[known].action and step.action):
            result[known] = _joined(result[known], step)
        else:
            of_call.setdefault(step.tool_call_id, len(result))
            result.append(step)
    return tuple(sorted(result, key=lambda step: step.started))


def step_rows(steps: Iterable[Step], time_map: TimeMap, started_at: float) -> list[dict[str, Any]]:
    """Return steps as JSON rows, with times since 1970 and times of the video.

    Times of ``steps`` count from the start of the recording, which was at ``started_at``
    (seconds since 1970).
    """
    rows = []
    for index, step in enumerate(steps):
        row = _values(step)
        begun, ended = row.pop("started"), row.pop("ended")
        row |= {
            "index": index,
            "started_at": round(started_at + begun, 3),
            "ended_at": round(started_at + ended, 3),
            "video_start": round(time_map.video(begun), 3),
            "video_end": round(time_map.video(ended), 3),
        }
        rows.append(row)
    return rows


def chapters(steps: Iterable[Step], time_map: TimeMap) -> str:
    """Return WebVTT with one cue for each step, until the next begins or until its own end."""
    cues = [
        _Cue(time_map.video(step.started), time_map.video(step.ended), caption(step))
        for step in steps
    ]
    return _vtt(cues, time_map.end[1])


def chapters_from_rows(rows: Iterable[Mapping[str, Any]], until: float) -> str:
    """Return the WebVTT of ``step_rows``; ``until`` is the end of the video."""
    # A row has null where a step has its default.
    known = ({name: value for name, value in row.items() if value is not None} for row in rows)
    cues = [_Cue(row["video_start"], row["video_end"], caption(restored(row))) for row in known]
    return _vtt(cues, until)


class _Cue(NamedTuple):
    start: float
    end: float
    text: str


def _vtt(cues: Sequence[_Cue], until: float) -> str:
    lines = ["WEBVTT", ""]
    for index, (start, end, text) in enumerate(cues):
        following = cues[index + 1].start if index + 1 < len(cues) else until
        lines += [
            str(index + 1),
            f"{_clock(start)} --> {_clock(max(following, end, start + SHORTEST_CUE))}",
            _escaped(text),
            "",
        ]
    return "\n".join(lines)


def marks(steps: Iterable[Step], time_map: TimeMap) -> list[Chapter]:
    """Return the steps as chapters of a file."""
    return [Chapter(time_map.video(step.started), caption(step)) for step in steps]


def stored(step: Step) -> dict[str, Any]:
    """Return the step as it is stored on disk, without the fields that have no value."""
    return {name: value for name, value in _values(step).items() if value not in ("", None)}


def restored(data: dict[str, Any]) -> Step:
    """Return the step of a ``stored`` mapping; keys of later versions are ignored."""
    known = {field.name for field in fields(Step)}
    values = {name: value for name, value in data.items() if name in known}
    for point in ("model_point", "native_point"):
        if point in values:
            # JSON has no tuples.
            values[point] = tuple(values[point])
    return Step(**values)


def _values(step: Step) -> dict[str, Any]:
    # Not asdict(): a deep copy takes half a second for the steps of a day.
    return dict(vars(step))


def _joined(known: Step, news: Step) -> Step:
    # An unset field of the later report must not erase what the earlier one knows.
    new_values = {
        field.name: getattr(news, field.name)
        for field in fields(Step)
        if getattr(news, field.name) not in ("", None)
    }
    # The report with an action is the desktop's own, whose span excludes the network.
    narrow = known if known.action else news
    return replace(known, **new_values | {"started": narrow.started, "ended": narrow.ended})


def caption(step: Step) -> str:
    """Return the caption of a step: one line, from its title or its action and text."""
    text = step.title or " ".join(filter(None, (step.action or step.tool or "step", step.text)))
    if step.error:
        text = f"{text} (failed)"
    return " ".join(text.split())


def _escaped(line: str) -> str:
    # WebVTT markup. `caption` returns a single line, so no empty line can end the cue.
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _clock(seconds: float) -> str:
    thousandths = round(seconds * 1000)
    minutes, rest = divmod(thousandths, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest // 1000:02}.{rest % 1000:03}"
