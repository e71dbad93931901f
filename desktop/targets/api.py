"""Route that searches the screen for a patch."""

import asyncio
import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from fastapi import APIRouter, Request

from deskhand.desktop.actions.requests import decode
from deskhand.desktop.actions.schema import json_body
from deskhand.desktop.capture.frames import Frame
from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.fields import known
from deskhand.desktop.geometry import Point, Region, Size
from deskhand.desktop.http_errors import answered
from deskhand.desktop.lease.access import AccessControl
from deskhand.desktop.windows.focused import Focused
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .patch_matches import PatchMatches
from .patch_png import LARGEST_FILE, read_patch
from .patch_search import LARGEST, PixelPatch, find_patch, resized
from .target_reader import ScreenMoment, ShownEntries, TargetReader
from .widgets import ActiveWindow

Json = dict[str, Any]

_LEAST_SCALE, _MOST_SCALE = 0.25, 4.0
_BODY: Json = {
    "type": "object",
    "required": ["patch"],
    "additionalProperties": False,
    "properties": {
        "patch": {
            "type": "string",
            "maxLength": LARGEST_FILE * 4 // 3 + 4,
            "description": "PNG in Base64: 8 bits, RGB or RGBA, not interlaced, 256 pixels each "
            "way at most. Transparent pixels are ignored.",
        },
        "point": {
            "type": "array",
            "items": {"type": "integer", "minimum": 0, "maximum": LARGEST - 1},
            "minItems": 2,
            "maxItems": 2,
            "description": "Pixel of the patch whose place is wanted; its middle by default.",
        },
        "scale": {
            "type": "number",
            "minimum": _LEAST_SCALE,
            "maximum": _MOST_SCALE,
            "default": 1,
            "description": "Second scale at which to search if it is not found as it is.",
        },
    },
}


class ScreenFrames(Protocol):
    """Frames of the screen."""

    @property
    def size(self) -> Size:
        """Native size."""

    async def frame(self) -> tuple[Frame, Focused | None]:
        """Return the newest frame, and the window that has the keyboard."""


class FocusableWindow(Protocol):
    """A window on the screen."""

    @property
    def id(self) -> int:
        """Id."""

    @property
    def region(self) -> Region:
        """Its place in native pixels."""


def target_reader(
    frames: ScreenFrames,
    widgets: ShownEntries,
    windows: Callable[[], Sequence[FocusableWindow]],
    access: AccessControl,
) -> TargetReader:
    """Return the reader of the targets of actions on a screen; ``windows`` blocks."""

    async def state() -> ScreenMoment:
        frame, focused = await frames.frame()
        if focused is None:
            return ScreenMoment(frame, None)
        found = await asyncio.to_thread(windows)
        region = next((one.region for one in found if one.id == focused.id), None)
        return ScreenMoment(frame, ActiveWindow(focused.title, region))

    return TargetReader(widgets, state, access)


def router(frames: ScreenFrames, access: AccessControl) -> APIRouter:
    """Return the route; ``access`` decides if the screen may be viewed."""
    routes = LazyRouter(prefix="/api/v0/desktop", tags=["desktop"])
    # A search takes all of one core for some 20 ms.
    one_at_a_time = asyncio.Lock()

    @routes.post("/find-patch", openapi_extra=json_body(_BODY))
    async def find_patch_route(request: Request) -> Json:
        """Search the screen for a picture of a part of it.

        `unique` is true if the first match is one and all other places are clearly worse. Points
        are native pixels.
        """
        with answered():
            patch, point, scale = _request(decode(await request.body()))
            access.check_view()
            async with one_at_a_time:
                frame, _ = await frames.frame()
                found = await asyncio.to_thread(_found, frame, patch, point, scale)
            # A person may have taken control in privacy mode during the search.
            access.check_view()
            return found.to_json() | {"native_size": frames.size._asdict()}

    return routes


def _found(frame: Frame, patch: PixelPatch, point: Point, scale: float) -> PatchMatches:
    picture = frame.pixels[..., 2::-1]
    found = find_patch(picture, patch, point)
    if found.unique or scale == 1:
        return found
    other = find_patch(picture, *resized(patch, point, scale))
    return other if other.unique and not found.matches else found


def _request(body: Json) -> tuple[PixelPatch, Point, float]:
    known(body, ("patch", "point", "scale"))
    try:
        data = base64.b64decode(body.get("patch") or "", validate=True)
        patch = read_patch(data)
    except (binascii.Error, TypeError, ValueError) as error:
        raise InvalidAction('"patch" must be a PNG in Base64.', str(error)) from error
    height, width = patch.pixels.shape[:2]
    match body.get("point"):
        case None:
            point = Point(width // 2, height // 2)
        case [int(x), int(y)] if 0 <= x < width and 0 <= y < height:
            point = Point(x, y)
        case _:
            raise InvalidAction('"point" must be a pixel of the patch.')
    scale = body.get("scale", 1)
    if not isinstance(scale, int | float) or not _LEAST_SCALE <= scale <= _MOST_SCALE:
        raise InvalidAction('"scale" must be a number from 0.25 to 4.')
    return patch, point, float(scale)
