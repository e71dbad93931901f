"""Trail of a run: all its clicks on one picture of the screen. Pure."""

import hashlib
import json
from collections.abc import Sequence

from deskhand.tools.control_plane.run_video.playlist import RunVideo

from .sheet import Json, point

MOST_STEPS = 1000
"""Steps of a trail; more clicks would hide the picture."""
HUMAN = "human"
"""Tool of the recorded steps that are control sessions: their picture may be private."""
_VERSION = 1
"""Changes with the look of a trail, so that stored ones are made again."""

TrailPoint = tuple[float, float, str, bool]
"""Where a click was, in pixels of the video, its number, and True if its step failed."""


def trail_points(steps: Sequence[Json]) -> list[TrailPoint]:
    """Return the clicks of the steps in their order; people's are not among them."""
    return [
        (*where, str(step["index"] + 1), bool(step.get("error")))
        for step in steps
        if step.get("tool") != HUMAN and (where := point(step)) is not None
    ]


def background(steps: Sequence[Json]) -> float | None:
    """Return the moment of the run video below the clicks: the end of the last step with one.

    Without any click it is the end of the last step of the agent; None if there is no such step.
    """
    own = [step for step in steps if step.get("tool") != HUMAN]
    clicked = [step for step in own if point(step) is not None]
    shown = clicked or own
    return float(shown[-1]["video_end"]) if shown else None


def trail_tag(found: RunVideo, points: Sequence[TrailPoint], at: float) -> str:
    """Return a tag of all that a trail depends on."""
    files = [part.file.sha256 or part.file.id for part in found.parts]
    facts = json.dumps([_VERSION, files, list(points), at])
    return f"trail-{hashlib.sha256(facts.encode()).hexdigest()[:32]}"
