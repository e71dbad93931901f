"""How long recordings are, when each of their parts is a file that describes the whole."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]


def positions(described: Sequence[Json]) -> list[int]:
    """Return which part of its recording each file is, the files being in their order."""
    seen: Counter[tuple[Any, Any]] = Counter()
    found: list[int] = []
    for metadata in described:
        recording = _recording(metadata)
        found.append(seen[recording])
        seen[recording] += 1
    return found


def span(metadata: Json, position: int) -> tuple[float, float] | None:
    """Return from when to when a recording's video shows one part, ``None`` if it is not known."""
    whole = _number(metadata.get("video_s"))
    starts = [_number(part.get("video_start")) for part in metadata.get("parts") or []] or [0.0]
    if whole is None or position >= len(starts):
        return None
    start, end = starts[position], (*starts, whole)[position + 1]
    return None if start is None or end is None else (start, end)


def seconds(metadata: Json, position: int) -> float | None:
    """Return the length of one part's video, ``None`` if it is not known."""
    found = span(metadata, position)
    return None if found is None else round(found[1] - found[0], 3)


def duration(described: Sequence[Json]) -> float | None:
    """Return how long the recorded work took in reality, each recording counted once."""
    lengths = {_recording(m): _number(m.get("duration_s")) for m in described}
    return total(list(lengths.values()))


def total(lengths: Sequence[float | None]) -> float | None:
    """Add up what is known; ``None`` if nothing is."""
    known = [length for length in lengths if length is not None]
    return round(sum(known), 3) if known else None


def _recording(metadata: Json) -> tuple[Any, Any]:
    # The id alone is the chat's: each of its turns may have a recording.
    return metadata.get("id"), metadata.get("started_at")


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
