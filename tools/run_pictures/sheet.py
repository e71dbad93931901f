"""Steps on a contact sheet: which, where in the run video, and with which caption. Pure."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.tools.control_plane.run_video.playlist import RunVideo

Json = Mapping[str, Any]

SELECTION = r"^(all|failed|[1-9]\d{0,5}(-[1-9]\d{0,5})?)$"
"""``all``, ``failed``, one number, or a span of numbers, from 1."""
MOST = 120
"""Pictures on a sheet; of more steps, as many at equal distances are shown."""
LONGEST_CAPTION = 48
_VERSION = 1
"""Changes with the look of a sheet, so that stored ones are made again."""


def selected(steps: Sequence[Json], selection: str, most: int = MOST) -> list[Json]:
    """Return the steps that match ``SELECTION``, at most ``most``."""
    if selection == "failed":
        found = [step for step in steps if step.get("error")]
    elif selection == "all":
        found = [*steps]
    else:
        first, _, last = selection.partition("-")
        found = [*steps[int(first) - 1 : int(last or first)]]
    if len(found) <= most:
        return found
    # The first and the last one are always among them.
    return [found[round(number * (len(found) - 1) / (most - 1))] for number in range(most)]


def caption(step: Json) -> str:
    """Return the number of a step and what it did."""
    words = step.get("title") or step.get("action") or step.get("tool") or ""
    text = f"{step['index'] + 1} {words}"
    return text if len(text) <= LONGEST_CAPTION else f"{text[: LONGEST_CAPTION - 1]}…"


def point(step: Json) -> tuple[float, float] | None:
    """Return where a step clicked, in pixels of the screen."""
    match step.get("native_point"):
        case [int() | float() as x, int() | float() as y]:
            return float(x), float(y)
    return None


def tag(found: RunVideo, steps: Sequence[Json], columns: int) -> str:
    """Return a tag of all that a sheet depends on."""
    files = [part.file.sha256 or part.file.id for part in found.parts]
    shown = [(caption(step), point(step), step["video_end"]) for step in steps]
    facts = json.dumps([_VERSION, files, shown, columns])
    return hashlib.sha256(facts.encode()).hexdigest()[:32]
