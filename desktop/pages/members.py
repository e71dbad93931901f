"""The members of the browser toolset and their inputs, checked before anything is done. Pure.

Names and inputs are those of Anthropic's ``browser_toolset_20260801``. A member is of one kind:

- *input*: mouse and keyboard, sent to the screen as input of the desktop itself,
- *change*: changes pages or tabs in another way, such as ``navigate``,
- *read*: reads a page or shows a picture, and changes nothing.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from deskhand.desktop.errors import BadField
from deskhand.desktop.fields import (
    Field,
    Fields,
    Json,
    Reader,
    any_text,
    between,
    is_number,
    known,
    number,
    one_of,
    outside,
    wrong,
)

from .errors import BrowserCallFailed

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
_AT_POINTER = _Member("input", (), ("target", *_TAB), "point")
"""Where the pointer is, unless another point is given."""

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
    "left_mouse_down": _AT_POINTER,
    "left_mouse_up": _AT_POINTER,
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
    if ACTION not in body:
        # The name of this field may be the misspelt one.
        try:
            known(body, (ACTION, *FIELDS))
        except BadField as error:
            raise _bad(error.sentence) from error
    name = body.get(ACTION)
    row = MEMBERS.get(name) if isinstance(name, str) else None
    if row is None or not isinstance(name, str):
        raise _bad(f"There is no browser action {name!r}{_nearest(str(name))}.")
    fields_of = Fields({key: FIELDS[key] for key in (*row.needs, *row.takes)}, row.needs)
    # Models may send ``null`` for the fields of other members.
    others = {ACTION, *(key for key in FIELDS if key not in fields_of.of and body.get(key) is None)}
    try:
        read = fields_of.read({key: value for key, value in body.items() if key not in others})
    except BadField as error:
        raise _bad(f"{name}: {error.sentence}") from error
    fields = {key: value for key, value in read.items() if value is not None}
    for key in ("from", "target"):
        if key in fields:
            _check_target(key, fields[key], row.target)
    return BrowserCall(name, fields)


def _nearest(name: str) -> str:
    close = difflib.get_close_matches(name, list(MEMBERS), 1)
    return f": did you mean {close[0]!r}?" if close else f"; there are {', '.join(MEMBERS)}"


def _check_target(key: str, target: object, kind: str) -> None:
    if kind == "ref" and not isinstance(target, PageRef):
        raise _bad(f'{key} must be an element: {{"type": "ref", "ref": "ref_7"}}.')
    if kind == "point" and not isinstance(target, PagePoint):
        raise _bad(f'{key} must be a point: {{"type": "coordinate", "x": 10, "y": 20}}.')


def _target(name: str, value: Any) -> PagePoint | PageRef:
    given = _TARGET.read(value, name)
    kind, ref, x, y = (given[key] for key in ("type", "ref", "x", "y"))
    if ref and kind != "coordinate":
        return PageRef(ref)
    if x is not None and y is not None and kind != "ref":
        return PagePoint(int(x), int(y))
    raise wrong(
        name,
        '{"type": "ref", "ref": "ref_7"} or {"type": "coordinate", "x": 10, "y": 20}',
    )


def _text(name: str, value: Any) -> str:
    if not any_text(name, value):
        raise wrong(name, "a text, not empty")
    if len(value) > LONGEST_TEXT:
        raise outside(name, f"has at most {LONGEST_TEXT} characters")
    return str(value)


def _whole(least: int, most: int) -> Reader:
    read = between(least, most)
    return lambda name, value: int(read(name, value))


def _region(name: str, value: Any) -> tuple[int, int, int, int]:
    if not isinstance(value, list) or len(value) != 4 or not all(map(is_number, value)):
        raise wrong(name, "[x0, y0, x1, y1]")
    left, top, right, bottom = map(int, value)
    if left >= right or top >= bottom:
        raise outside(name, "is empty: x0 < x1 and y0 < y1 are needed")
    return left, top, right, bottom


def _value(name: str, value: Any) -> str | float | bool:
    if isinstance(value, str | bool):
        return value
    if is_number(value):
        return float(value)
    raise wrong(name, "a text, a number, true or false")


def _paths(name: str, value: Any) -> tuple[str, ...]:
    texts = isinstance(value, list) and all(isinstance(one, str) and one for one in value)
    if not texts or not 0 < len(value) <= MOST_FILES:
        raise wrong(name, f"a list of 1 to {MOST_FILES} paths")
    return tuple(value)


def _documents(name: str, value: Any) -> tuple[str, ...]:
    if value:
        raise outside(name, "are not known here: give paths of this desktop")
    return ()


def _bad(message: str) -> BrowserCallFailed:
    return BrowserCallFailed(400, message)


_KINDS = ("ref", "coordinate")
_FILTERS = ("all", "interactive")
_TARGET = Fields(
    {
        "type": Field({"type": "string", "enum": [*_KINDS]}, one_of(*_KINDS)),
        "ref": Field({"type": "string"}, any_text),
        "x": Field({"type": "integer"}, number),
        "y": Field({"type": "integer"}, number),
    }
)
_TARGET_SCHEMA: Json = {
    **_TARGET.schema,
    "description": 'An element, {"type": "ref", "ref": "ref_7"}, or a point of the picture of the '
    'page, {"type": "coordinate", "x": 10, "y": 20}.',
}
FIELDS: Mapping[str, Field] = {
    "tab_id": Field({"type": "string", "description": "Default: the active tab."}, _text),
    "url": Field(
        {"type": "string", "description": "navigate: an address, back, forward or reload."}, _text
    ),
    "target": Field(_TARGET_SCHEMA, _target),
    "from": Field(
        {**_TARGET_SCHEMA, "description": "left_click_drag: the point where it begins."}, _target
    ),
    "text": Field(
        {
            "type": "string",
            "description": "type: the text. key, hold_key: keys, as ctrl+a. javascript_exec: an "
            "expression, without return.",
        },
        _text,
    ),
    "modifiers": Field(
        {"type": "string", "description": "Keys held during a click, as ctrl+shift."}, _text
    ),
    "query": Field(
        {"type": "string", "description": "find: what the elements are, in words."}, _text
    ),
    "filter": Field(
        {
            "type": "string",
            "enum": [*_FILTERS],
            "description": "read_page: also what is out of view, or only what takes clicks or "
            "keys. Default: what is in view.",
        },
        one_of(*_FILTERS),
    ),
    "depth": Field(
        {"type": "integer", "description": "read_page: levels of the tree. Default 15."},
        _whole(1, MOST_DEPTH),
    ),
    "ref": Field({"type": "string", "description": "read_page: only below this element."}, _text),
    "value": Field(
        {
            "type": ["string", "number", "boolean"],
            "description": "form_input: the value; true or false for a checkbox.",
        },
        _value,
    ),
    "paths": Field(
        {
            "type": "array",
            "items": {"type": "string"},
            "description": "file_upload: files of this desktop.",
        },
        _paths,
    ),
    "region": Field(
        {
            "type": "array",
            "items": {"type": "integer"},
            "minItems": 4,
            "maxItems": 4,
            "description": "zoom: [x0, y0, x1, y1] in pixels of the picture of the page.",
        },
        _region,
    ),
    "scroll_direction": Field({"type": "string", "enum": [*DIRECTIONS]}, one_of(*DIRECTIONS)),
    "scroll_amount": Field(
        {"type": "integer", "description": f"Notches, 1 to {MOST_NOTCHES}."},
        _whole(1, MOST_NOTCHES),
    ),
    "repeat": Field({"type": "integer", "description": "key: times."}, _whole(1, MOST_REPEATS)),
    "duration": Field(
        {
            "type": "number",
            "description": f"wait, hold_key: seconds, at most {LONGEST_SECONDS}.",
        },
        between(0, LONGEST_SECONDS),
    ),
    "document_ids": Field({"type": "array", "items": {"type": "string"}}, _documents),
}
"""Every field that members have."""
