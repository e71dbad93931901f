"""Chapters of a run video: the steps of the agent, and between them what people did. Pure."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .activity import HUMAN, Activity

Json = dict[str, Any]


def video_time(at: float, time_map: Sequence[tuple[float, float]]) -> float | None:
    """Return the second of the video at a time, None outside of it.

    ``time_map`` has pairs of the real time, on the clock of ``at``, and of the video, in order.
    """
    index = bisect_left(time_map, at, key=lambda pair: pair[0])
    if index == len(time_map) or at < time_map[0][0]:
        return None
    (begin, first), (end, last) = time_map[max(index - 1, 0)], time_map[index]
    return last if end <= begin else first + (at - begin) / (end - begin) * (last - first)


def chapter_rows(
    steps: Iterable[Mapping[str, Any]],
    people: Iterable[Activity],
    time_map: Sequence[tuple[float, float]],
) -> list[Json]:
    """Return the rows of steps with those of people among them, by their times in the video.

    What people did outside of the video has no row.
    """
    rows: list[Json] = [dict(step) for step in steps if step.get("tool") != HUMAN]
    for one in people:
        start = one.video_start if one.kind == "control" else video_time(one.at, time_map)
        if start is not None:
            end = start if one.video_end is None else one.video_end
            rows.append({"title": one.words, "video_start": start, "video_end": end})
    return sorted(rows, key=lambda row: row["video_start"])
