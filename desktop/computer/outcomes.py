"""Outcome of a request, and its JSON."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deskhand.desktop.actions.catalog import CursorPosition, output
from deskhand.desktop.actions.points import ActionPoint
from deskhand.desktop.actions.requests import ActionRequest
from deskhand.desktop.capture.diff import Changes
from deskhand.desktop.capture.frames import Frame, Pointer
from deskhand.desktop.capture.settle import Verdict
from deskhand.desktop.errors import ActionFailed
from deskhand.desktop.geometry import Region, Size, Space, convert_region
from deskhand.desktop.screenshots.options import PictureFormat, View
from deskhand.desktop.windows.focused import Focused

Json = dict[str, Any]

SKIPPED: Json = {"skipped": True}
"""Result of an action that never began, because one before it failed."""

NOWHERE = (
    "type action performed, but no window had the keyboard, and the text went nowhere: click into "
    "a field, or focus a window first"
)
"""Output of an action whose text no program received."""


@dataclass(frozen=True)
class ScreenshotResult:
    """A screenshot, or the fact that the caller has it already."""

    frame_id: str
    etag: str
    format: PictureFormat
    size: Size
    native: Size
    """Of the screen."""
    data: bytes | None
    """``None`` when nothing has changed since the frame that the caller named."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds by stage."""


@dataclass(frozen=True)
class Observation:
    """Effect of an action on the screen."""

    frame_id: str
    settled: Verdict | None
    changes: Changes
    screenshot: ScreenshotResult | None
    focused_before: Focused | None = None
    focused_after: Focused | None = None
    frame_before: str = ""
    """Name of what the screen showed before the action."""
    targets: Sequence[Json | None] | None = None
    """What the action was aimed at, for each of its points or for the widget with the keyboard;
    ``None`` if the request did not ask for it."""


@dataclass(frozen=True)
class Outcome:
    """Result of one action."""

    output: str
    space: Space
    native: Size
    frame_id: str
    timings: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds by stage."""
    point: ActionPoint | None = None
    """Where the action happened, or where the pointer is."""
    clamped: bool = False
    screenshot: ScreenshotResult | None = None
    observation: Observation | None = None
    typed_into: str = ""
    """Host of the page that received a protected text; empty outside of web pages."""
    nothing_focused: bool = False
    """True if a text was typed while no program would get a key."""
    redacted_text: str | None = None
    """Stands in the place of a text that went into a password field. The reply calls it
    ``told_text``."""


@dataclass(frozen=True)
class BatchOutcome:
    """Results of the actions of a batch, up to the first that failed."""

    results: Sequence[Outcome | ActionFailed]
    skipped: int
    space: Space
    native: Size
    frame_id: str
    timings: Mapping[str, float]
    observation: Observation | None


def frame_id(boot: str, frame: Frame, moves: int) -> str:
    """Return the name of what a frame shows after ``moves`` moves of the pointer.

    ``boot`` names the service. Both numbers only grow, so their sum belongs to one moment.
    """
    return f"{boot}{frame.instance}-{frame.counter + moves}"


def etag(frame: str, view: View, pointer: Pointer | None) -> str:
    """Return the name of a screenshot's bytes: of frame, view, and the pointer drawn on it."""
    # The format and quality are part of the name: If-None-Match must not match other bytes.
    drawn = None if pointer is None else (pointer.position, pointer.serial)
    described = repr((view.size, view.region, view.options.format, view.options.quality, drawn))
    return f"{frame}-{hashlib.blake2s(described.encode(), digest_size=8).hexdigest()}"


def outcome_of(
    request: ActionRequest,
    native: Size,
    point: ActionPoint | None,
    frame: str,
    screenshot: ScreenshotResult | None,
    timings: Mapping[str, float],
) -> Outcome:
    """Return the outcome of an action that succeeded; ``point`` is where, or the pointer's."""
    text = output(request.name)
    if isinstance(request.action, CursorPosition) and point is not None:
        text = f"x={point.requested.x},y={point.requested.y}"
    return Outcome(
        output=text,
        space=request.space,
        native=native,
        frame_id=frame,
        timings=timings,
        point=point,
        clamped=request.clamped,
        screenshot=screenshot,
    )


def outcome_json(outcome: Outcome, instance_id: str) -> Json:
    """Return the body of the response to one action."""
    return {
        **_result_json(outcome),
        **_observation_json(outcome.observation, outcome.space, outcome.native),
        "space": _space_json(outcome.space),
        "timings": _timings_json(outcome.timings),
        "instance_id": instance_id,
    }


def batch_json(outcome: BatchOutcome, instance_id: str) -> Json:
    """Return the body of the response to a batch."""
    results: list[Json] = []
    for result in outcome.results:
        if isinstance(result, ActionFailed):
            error = {"message": result.message, "detail": result.detail}
            results.append({"output": str(result), "error": error})
        else:
            results.append({**_result_json(result), "timings": _timings_json(result.timings)})
    results += [SKIPPED] * outcome.skipped
    return {
        "results": results,
        "skipped": outcome.skipped,
        "frame_id": outcome.frame_id,
        **_observation_json(outcome.observation, outcome.space, outcome.native),
        "space": _space_json(outcome.space),
        "timings": _timings_json(outcome.timings),
        "instance_id": instance_id,
    }


def _result_json(outcome: Outcome) -> Json:
    body: Json = {"output": outcome.output, "frame_id": outcome.frame_id}
    if outcome.point is not None:
        body["point"] = list(outcome.point.requested)
        body["native_point"] = list(outcome.point.native)
        body["model_point"] = list(outcome.point.model)
        body["clamped"] = outcome.clamped
    if outcome.redacted_text is not None:
        body["told_text"] = outcome.redacted_text
    if outcome.nothing_focused:
        body["nothing_focused"] = True
    if outcome.typed_into:
        body["typed_into"] = outcome.typed_into
    if outcome.screenshot is not None:
        body |= screenshot_json(outcome.screenshot)
    return body


def _observation_json(seen: Observation | None, space: Space, native: Size) -> Json:
    if seen is None:
        return {}
    body: Json = {"frame_id": seen.frame_id}
    if seen.settled is not None:
        body["settled"] = seen.settled
    # Regions are reported in the space of the request, like every other point in the reply.
    body["changed_fraction"] = seen.changes.fraction
    body["changed_regions"] = [
        list(convert_region(Region(*region), native, space.size)) for region in seen.changes.regions
    ]
    # Present even when null: a client distinguishes "no window" from "not observed".
    for name in ("focused_before", "focused_after"):
        window: Focused | None = getattr(seen, name)
        body[name] = None if window is None else _focused_json(window)
    if seen.targets is not None:
        body["targets"] = list(seen.targets)
    if seen.screenshot is not None:
        body |= screenshot_json(seen.screenshot)
    return body


def _focused_json(window: Focused) -> Json:
    hint = {"hint": window.hint} if window.hint else {}
    return {"id": window.id, "title": window.title, **hint}


def screenshot_json(screenshot: ScreenshotResult) -> Json:
    """Return the fields of a response that carry a screenshot."""
    body: Json = {
        "frame_id": screenshot.frame_id,
        "screenshot_width": screenshot.size.width,
        "screenshot_height": screenshot.size.height,
        "screenshot_media_type": f"image/{screenshot.format}",
        "native_size": screenshot.native._asdict(),
    }
    if screenshot.data is None:
        body["unchanged"] = True
    else:
        body["screenshot_data"] = base64.b64encode(screenshot.data).decode()
    return body


def without_screenshots(body: Json) -> Json:
    """Return a response's body without the bytes of its screenshots."""
    kept = {name: value for name, value in body.items() if name != "screenshot_data"}
    if "results" in kept:
        kept["results"] = [without_screenshots(result) for result in kept["results"]]
    return kept


def _space_json(space: Space) -> Json:
    return {"name": space.name, "width": space.size.width, "height": space.size.height}


def _timings_json(timings: Mapping[str, float]) -> Json:
    return {f"{stage}_ms": round(timings.get(stage, 0.0), 3) for stage in STAGES}


STAGES = ("act", "settle", "capture", "encode")


@dataclass
class ActionNote:
    """The facts of an action for its record, noted while it is performed."""

    started: float
    changed_fraction: float | None = None
    frames: tuple[str, str] = ("", "")
    error: str | None = None
