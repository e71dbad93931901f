"""Commands of windows. Pure; their geometry is in native pixels, with the frame."""

from collections.abc import Callable
from typing import Any

from .arguments import Params, text, whole
from .errors import FailedCommand
from .route_call import DESKTOP, Calls, Json, succeeding

_NATIVE: Json = {"coordinate_space": "native"}


def current(params: Params) -> Calls:
    """Return the id of the window with the keyboard focus."""
    return {"window_id": (yield from _focused())["id"]}


def active_title(params: Params) -> Calls:
    """Return the title of the window with the keyboard focus; empty if there is none."""
    found = yield from _all()
    return {"result": next((one["title"] for one in found if one["focused"]), "")}


def of_application(params: Params) -> Calls:
    """Return the ids of the windows whose class or title contains a text."""
    name = text(params, "app").lower()
    found = yield from _all()
    return {
        "windows": [
            one["id"]
            for one in found
            if name in str(one["class"]).lower() or name in str(one["title"]).lower()
        ]
    }


def name(params: Params) -> Calls:
    """Return the title of a window."""
    return {"name": (yield from _window(params))["title"]}


def size(params: Params) -> Calls:
    """Return the size of a window."""
    geometry = (yield from _window(params))["native_geometry"]
    return {side: geometry[side] for side in ("width", "height")}


def position(params: Params) -> Calls:
    """Return the position of a window."""
    geometry = (yield from _window(params))["native_geometry"]
    return {axis: geometry[axis] for axis in ("x", "y")}


def placed(*fields: str) -> Callable[[Params], Calls]:
    """Return the command that sets position or size."""

    def command(params: Params) -> Calls:
        body = _NATIVE | {field: whole(params, field) for field in fields}
        yield from succeeding("POST", f"{_place(params)}/move", json=body)
        return {}

    return command


def changed(wish: str) -> Callable[[Params], Calls]:
    """Return the command that focuses, closes, maximizes or minimizes."""

    def command(params: Params) -> Calls:
        yield from succeeding("POST", f"{_place(params)}/{wish}", json=_NATIVE)
        return {}

    return command


def _place(params: Params) -> str:
    return f"{DESKTOP}/windows/{_id(params)}"


def _id(params: Params) -> int:
    value = params.get("window_id")
    if isinstance(value, str):
        try:
            return int(value, 0)
        except ValueError as error:
            raise FailedCommand("window_id must be a number") from error
    return whole(params, "window_id")


def _all() -> Any:
    reply = yield from succeeding("GET", f"{DESKTOP}/windows", params=_NATIVE)
    return reply.json()["windows"]


def _window(params: Params) -> Any:
    number = _id(params)
    for one in (yield from _all()):
        if one["id"] == number:
            return one
    raise FailedCommand(f"no window {number}")


def _focused() -> Any:
    for one in (yield from _all()):
        if one["focused"]:
            return one
    raise FailedCommand("no window has the keyboard focus")
