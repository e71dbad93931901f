"""Lengths of recordings, computed from the metadata of their files. Pure.

Each file of a recording has the metadata of the whole recording, with the starts of all parts; its
own part follows from its position among the files of that recording.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]


def positions(described: Sequence[Json]) -> list[int]:
    """Return for each file the index of its part; the files must be in their order."""
    seen: Counter[tuple[Any, Any]] = Counter()
    found: list[int] = []
    for metadata in described:
        recording = _recording(metadata)
        found.append(seen[recording])
        seen[recording] += 1
    return found


def span(metadata: Json, position: int) -> tuple[float, float] | None:
    """Return start and end of one part in its recording's video, ``None`` if they are unknown."""
    whole = _number(metadata.get("video_s"))
    # A recording without a list of parts is a single file, which begins at 0.
    starts = [_number(part.get("video_start")) for part in metadata.get("parts") or []] or [0.0]
    if whole is None or position >= len(starts):
        return None
    start, end = starts[position], (*starts, whole)[position + 1]
    return None if start is None or end is None else (start, end)


def seconds(metadata: Json, position: int) -> float | None:
    """Return the length of one part's video, ``None`` if it is unknown."""
    found = span(metadata, position)
    return None if found is None else round(found[1] - found[0], 3)


def duration(described: Sequence[Json]) -> float | None:
    """Return the real duration of the recorded work, each recording counted once."""
    lengths = {_recording(m): _number(m.get("duration_s")) for m in described}
    return total(list(lengths.values()))


def total(lengths: Sequence[float | None]) -> float | None:
    """Return the sum of the known lengths, ``None`` if none is known."""
    known = [length for length in lengths if length is not None]
    return round(sum(known), 3) if known else None


def _recording(metadata: Json) -> tuple[Any, Any]:
    # The id is the chat's, of which each turn may have a recording: the start distinguishes them.
    return metadata.get("id"), metadata.get("started_at")


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
