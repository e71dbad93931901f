"""Routes of windows."""

import asyncio
import re
from collections.abc import Callable
from typing import Annotated, Any, Protocol, cast

from fastapi import APIRouter, Path, Request

from deskhand.desktop.actions.requests import SPACE_FIELDS, decode, space_of
from deskhand.desktop.actions.schema import SPACE, SPACE_RULES, json_body, query_parameters, sized
from deskhand.desktop.errors import InvalidAction, UnknownWindow
from deskhand.desktop.fields import known, whole_number
from deskhand.desktop.geometry import Point, Region, Size, Space, convert, convert_region
from deskhand.desktop.http_errors import answered, refusal
from deskhand.desktop.lease.access import AccessControl
from deskhand.desktop.tool_calls.caller import caller_of
from deskhand.desktop.x11.ewmh import ClientWindow
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .windows import WindowAction

Json = dict[str, Any]

_ACTIONS = ("focus", "close", "maximize", "minimize", "restore")
_GEOMETRY = ("x", "y", "width", "height")
# Window ids have 32 bits; X tools print them in hexadecimal.
_NUMBER = re.compile(r"\d{1,10}|0[xX][0-9a-fA-F]{1,8}")


_NUMBER_SCHEMA = {"pattern": f"^({_NUMBER.pattern})$"}
_WindowId = Annotated[str, Path(json_schema_extra=_NUMBER_SCHEMA)]
_ActionName = Annotated[str, Path(json_schema_extra={"enum": list(_ACTIONS)})]


class WindowService(Protocol):
    """Lists and arranges windows. Blocking; called from any thread."""

    def all(self) -> list[ClientWindow]:
        """Return all windows."""

    def apply(self, window: int, action: WindowAction) -> ClientWindow | None:
        """Perform an action on one window."""

    def place(self, window: int, region: Region) -> ClientWindow | None:
        """Move and resize one window."""


def router(service: Callable[[], WindowService], native: Size, access: AccessControl) -> APIRouter:
    """Return the routes; ``service`` may wait for a display and is called in a worker thread."""
    routes = LazyRouter(prefix="/api/v0/desktop", tags=["desktop"])

    @routes.get("/windows", openapi_extra=sized(_QUERY, native))
    async def windows(request: Request) -> Json:
        """The windows of applications, the oldest first; panels are none of them."""
        with answered():
            known(request.query_params, SPACE_FIELDS)
            # `space_of` reads the fields of a JSON body, where numbers are numbers.
            space = space_of(_numbers(dict(request.query_params)), native)
            access.check_view()
            found = await asyncio.to_thread(lambda: service().all())
            listed = [described(window, space, native) for window in found]
            return {"windows": listed, "space": _space_json(space)}

    @routes.post("/windows/{window_id}/move", openapi_extra=sized(_MOVE, native))
    async def move(window_id: _WindowId, request: Request) -> Json:
        """Give a window, with its frame, a place; what is left out stays as it is."""
        with answered():
            body = decode(await request.body())
            known(body, (*_GEOMETRY, *SPACE_FIELDS))
            space = space_of(body, native)
            wanted = {n: whole_number(n, body[n]) for n in _GEOMETRY if body.get(n) is not None}
            if not wanted or min(wanted.get("width", 1), wanted.get("height", 1)) < 1:
                raise InvalidAction('Give "x" and "y", or "width" and "height" from 1 on.')
            number = _number(window_id)

            def place() -> ClientWindow | None:
                windows = service()
                # Read in the same worker call as the change: omitted fields keep the values of this
                # moment.
                now = next((one for one in windows.all() if one.id == number), None)
                if now is None:
                    raise UnknownWindow(number)
                return windows.place(number, placed(now.region, wanted, space, native))

            with access.acting(caller_of(request.headers).chat_id):
                return _answer(await asyncio.to_thread(place), space, native)

    @routes.post("/windows/{window_id}/{wish}", openapi_extra=sized(_ACTION, native))
    async def wish(window_id: _WindowId, wish: _ActionName, request: Request) -> Json:
        """Focus, close, maximize, minimize or restore a window."""
        with answered():
            body = decode(await request.body() or b"{}")
            known(body, SPACE_FIELDS)
            space = space_of(body, native)
            if wish not in _ACTIONS:
                detail = f"there are {', '.join((*_ACTIONS, 'move'))}"
                raise refusal(404, f"Unknown wish: {wish}", detail)
            number = _number(window_id)
            action = cast(WindowAction, wish)
            with access.acting(caller_of(request.headers).chat_id):
                now = await asyncio.to_thread(lambda: service().apply(number, action))
            return _answer(now, space, native)

    return routes


def described(window: ClientWindow, space: Space, native: Size) -> Json:
    """Return the JSON of a window, with its geometry in the request's space."""
    shown = convert_region(window.region, native, space.size)
    return {
        "id": window.id,
        "title": window.title,
        "class": window.name,
        "pid": window.pid,
        "geometry": _geometry(shown),
        "native_geometry": _geometry(window.region),
        "focused": window.focused,
        "maximized": window.maximized,
        "minimized": window.minimized,
        "dialog": window.dialog,
    }


def placed(now: Region, wanted: dict[str, int], space: Space, native: Size) -> Region:
    """Return the requested geometry in native pixels; omitted fields keep their values."""
    at = convert(Point(wanted.get("x", 0), wanted.get("y", 0)), space.size, native)
    left = at.x if "x" in wanted else now.left
    top = at.y if "y" in wanted else now.top
    width, height = now.size
    if "width" in wanted:
        width = max(1, round(wanted["width"] * native.width / space.size.width))
    if "height" in wanted:
        height = max(1, round(wanted["height"] * native.height / space.size.height))
    width, height = min(width, native.width), min(height, native.height)
    return Region(left, top, left + width, top + height)


def _answer(window: ClientWindow | None, space: Space, native: Size) -> Json:
    if window is None:
        return {"window": None, "closed": True}
    return {"window": described(window, space, native), "space": _space_json(space)}


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise refusal(404, "Unknown window.", f"{text!r} is no window's id")
    return int(text, 0) if text[:2].lower() == "0x" else int(text)


def _numbers(query: dict[str, str]) -> Json:
    return {
        name: int(value) if value.isascii() and value.isdigit() and len(value) < 10 else value
        for name, value in query.items()
    }


def _geometry(region: Region) -> Json:
    size = region.size
    return {"x": region.left, "y": region.top, "width": size.width, "height": size.height}


def _space_json(space: Space) -> Json:
    return {"name": space.name, "width": space.size.width, "height": space.size.height}


_QUERY = {"parameters": query_parameters(SPACE)}
_MOVE = json_body(
    {
        "type": "object",
        "additionalProperties": False,
        # At least one of them. Generators of clients read an `anyOf` as a union of types.
        **SPACE_RULES,
        "not": {"not": {"anyOf": [{"required": [name]} for name in _GEOMETRY]}},
        "properties": {
            **{name: {"type": "integer"} for name in _GEOMETRY[:2]},
            **{name: {"type": "integer", "minimum": 1} for name in _GEOMETRY[2:]},
            **SPACE,
        },
    }
)
_ACTION = json_body(
    {"type": "object", "additionalProperties": False, "properties": SPACE, **SPACE_RULES},
    needed=False,
)
