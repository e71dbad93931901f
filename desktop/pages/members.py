"""The members of the browser toolset and their inputs, checked before anything is done. Pure.

Names and inputs are those of Anthropic's ``browser_toolset_20260801``. A member is of one kind:

- *input*: mouse and keyboard, sent to the screen as input of the desktop itself,
- *change*: changes pages or tabs in another way, such as ``navigate``,
- *read*: reads a page or shows a picture, and changes nothing.
"""

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard

from .errors import BrowserCallFailed

Json = dict[str, Any]
Kind = Literal["input", "change", "read"]

ACTION = "action"
LONGEST_SECONDS = 30
MOST_REPEATS = 100
MOST_NOTCHES = 10
MOST_DEPTH = 100
USUAL_DEPTH = 15
LONGEST_TEXT = 50_000
MOST_FILES = 20
DIRECTIONS = ("up", "down", "left", "right")


@dataclass(frozen=True)
class PagePoint:
    """A point of the picture of a page."""

    x: int
    y: int


@dataclass(frozen=True)
class PageRef:
    """An element that was read before, as ``ref_7``."""

    ref: str


@dataclass(frozen=True)
class BrowserCall:
    """A call whose input has been checked."""

    name: str
    fields: Mapping[str, Any]
    """Values by field; ``target`` and ``from`` are a `PagePoint` or a `PageRef`."""

    @property
    def tab(self) -> str | None:
        """Id of the tab that is meant; None for the active one."""
        found = self.fields.get("tab_id")
        return None if found is None else str(found)


@dataclass(frozen=True)
class _Member:
    kind: Kind
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    target: Literal["any", "point", "ref"] = "any"


_TAB = ("tab_id",)
_CLICK = _Member("input", ("target",), ("modifiers", *_TAB))
_AT_POINT = _Member("input", ("target",), _TAB, "point")

MEMBERS: Mapping[str, _Member] = {
    "navigate": _Member("change", ("url",), _TAB),
    "list_tabs": _Member("read"),
    "new_tab": _Member("change"),
    "switch_tab": _Member("change", _TAB),
    "close_tab": _Member("change", _TAB),
    "read_page": _Member("read", (), ("filter", "depth", "ref", *_TAB)),
    "get_page_text": _Member("read", (), _TAB),
    "find": _Member("read", ("query",), _TAB),
    "form_input": _Member("change", ("target", "value"), _TAB, "ref"),
    "scroll_to": _Member("change", ("target",), _TAB, "ref"),
    "file_upload": _Member("change", ("target", "paths"), ("document_ids", *_TAB), "ref"),
    "read_console": _Member("read", (), _TAB),
    "read_network": _Member("read", (), _TAB),
    "javascript_exec": _Member("change", ("text",), _TAB),
    "screenshot": _Member("read", (), _TAB),
    "zoom": _Member("read", ("region",), _TAB),
    "left_click": _CLICK,
    "right_click": _CLICK,
    "middle_click": _CLICK,
    "double_click": _CLICK,
    "triple_click": _CLICK,
    "hover": _Member("input", ("target",), _TAB),
    "mouse_move": _AT_POINT,
    "left_mouse_down": _AT_POINT,
    "left_mouse_up": _AT_POINT,
    "left_click_drag": _Member("input", ("from", "target"), _TAB, "point"),
    "scroll": _Member("input", ("scroll_direction", "target"), ("scroll_amount", *_TAB), "point"),
    "type": _Member("input", ("text",), _TAB),
    "key": _Member("input", ("text",), ("repeat", *_TAB)),
    "hold_key": _Member("input", ("text", "duration"), _TAB),
    "wait": _Member("input", ("duration",), _TAB),
}
"""Every member by its name."""


def member_call(body: Mapping[str, Any]) -> BrowserCall:
    """Return the call that a body with an ``action`` asks for.

    Raises:
        BrowserCallFailed: With status 400, if there is no such member or its input is wrong.
    """
    name = body.get(ACTION)
    row = MEMBERS.get(name) if isinstance(name, str) else None
    if row is None or not isinstance(name, str):
        raise _bad(f"There is no browser action {name!r}{_nearest(str(name), MEMBERS)}.")
    # Models may send ``null`` for a field that they leave out.
    given = {key: value for key, value in body.items() if key != ACTION and value is not None}
    known = (*row.needs, *row.takes)
    for key in given:
        if key not in known:
            raise _bad(f"{name} takes no {key!r}{_nearest(key, known)}.")
    for key in row.needs:
        if key not in given:
            raise _bad(f"{name} needs {key!r}.")
    fields = {key: _FIELDS[key](key, value) for key, value in given.items()}
    for key in ("from", "target"):
        if key in fields:
            _check_target(key, fields[key], row.target)
    return BrowserCall(name, fields)


def _nearest(name: str, known: Mapping[str, Any] | tuple[str, ...]) -> str:
    close = difflib.get_close_matches(name, list(known), 1)
    return f": did you mean {close[0]!r}?" if close else f"; there are {', '.join(known)}"


def _check_target(key: str, target: object, kind: str) -> None:
    if kind == "ref" and not isinstance(target, PageRef):
        raise _bad(f'{key} must be an element: {{"type": "ref", "ref": "ref_7"}}.')
    if kind == "point" and not isinstance(target, PagePoint):
        raise _bad(f'{key} must be a point: {{"type": "coordinate", "x": 10, "y": 20}}.')


def _target(key: str, value: object) -> PagePoint | PageRef:
    if isinstance(value, dict):
        ref, x, y = value.get("ref"), value.get("x"), value.get("y")
        if isinstance(ref, str) and ref and value.get("type", "ref") == "ref":
            return PageRef(ref)
        if _is_number(x) and _is_number(y) and value.get("type", "coordinate") == "coordinate":
            return PagePoint(int(x), int(y))
    raise _bad(
        f'{key} must be {{"type": "ref", "ref": "ref_7"}} or '
        '{"type": "coordinate", "x": 10, "y": 20}.'
    )


def _text(key: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise _bad(f"{key} must be a text, not empty.")
    if len(value) > LONGEST_TEXT:
        raise _bad(f"{key} has at most {LONGEST_TEXT} characters.")
    return value


def _between(least: float, most: float, whole: bool = False) -> Callable[[str, object], float]:
    def read(key: str, value: object) -> float:
        if not _is_number(value) or not least <= value <= most:
            raise _bad(f"{key} must be a number from {least:g} to {most:g}.")
        return int(value) if whole else value

    return read


def _one_of(*names: str) -> Callable[[str, object], str]:
    def read(key: str, value: object) -> str:
        if value not in names:
            raise _bad(f"{key} must be one of {', '.join(names)}.")
        return str(value)

    return read


def _region(key: str, value: object) -> tuple[int, int, int, int]:
    if not isinstance(value, list) or len(value) != 4 or not all(map(_is_number, value)):
        raise _bad(f"{key} must be [x0, y0, x1, y1].")
    left, top, right, bottom = map(int, value)
    if left >= right or top >= bottom:
        raise _bad(f"{key} is empty: x0 < x1 and y0 < y1 are needed.")
    return left, top, right, bottom


def _value(key: str, value: object) -> str | float | bool:
    if isinstance(value, str | bool):
        return value
    if _is_number(value):
        return float(value)
    raise _bad(f"{key} must be a text, a number, true or false.")


def _paths(key: str, value: object) -> tuple[str, ...]:
    texts = isinstance(value, list) and all(isinstance(one, str) and one for one in value)
    if not isinstance(value, list) or not texts or not 0 < len(value) <= MOST_FILES:
        raise _bad(f"{key} must be a list of 1 to {MOST_FILES} paths.")
    return tuple(value)


def _documents(_: str, value: object) -> tuple[str, ...]:
    if value:
        raise _bad("document_ids are not known here: give paths of this desktop.")
    return ()


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _bad(message: str) -> BrowserCallFailed:
    return BrowserCallFailed(400, message)


_FIELDS: Mapping[str, Callable[[str, object], Any]] = {
    "url": _text,
    "tab_id": _text,
    "filter": _one_of("all", "interactive"),
    "depth": _between(1, MOST_DEPTH, whole=True),
    "ref": _text,
    "query": _text,
    "target": _target,
    "from": _target,
    "value": _value,
    "paths": _paths,
    "document_ids": _documents,
    "text": _text,
    "modifiers": _text,
    "region": _region,
    "scroll_direction": _one_of(*DIRECTIONS),
    "scroll_amount": _between(1, MOST_NOTCHES, whole=True),
    "repeat": _between(1, MOST_REPEATS, whole=True),
    "duration": _between(0, LONGEST_SECONDS),
}
