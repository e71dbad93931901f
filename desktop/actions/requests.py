"""Read the body of an action request, and check all of it before anything is performed."""

import json
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from deskhand.desktop.capture.settle import SettleRule
from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.fields import UNREADABLE, Json, flag, items, known, within, wrong
from deskhand.desktop.geometry import (
    Point,
    Region,
    Size,
    Space,
    SpaceName,
    contains,
    convert,
    convert_region,
    space,
)
from deskhand.desktop.screenshots.options import PictureOptions, View, view

from .catalog import ACTIONS, Action, Screenshot, Values, picture_options
from .fields import FIELDS, region, text
from .points import ActionPoint, located, points_of, requested_point, scaled_scroll

SPACES: tuple[SpaceName, ...] = ("model", "native", "normalized_1000")
SMALLEST_PICTURE = 16
LONGEST_BATCH = 100
LONGEST_SETTLE = 30_000
MOST_IGNORED = 100
MOST_OUTSIDE = 2
"""Pixels by which a point may be outside; it is clamped."""

SPACE_FIELDS = ("coordinate_space", "scaled_width", "scaled_height")
_PICTURE_FIELDS = ("format", "quality", "cursor", "since")
# Dictionaries, as a request is compared with them: they keep the order, in which `known` suggests.
_OF_ACTION = dict.fromkeys(("action", "observe", *SPACE_FIELDS, *FIELDS))
_OF_BATCH = dict.fromkeys(("actions", "observe", *SPACE_FIELDS))
_OF_OBSERVE = dict.fromkeys(("screenshot", "settle", "targets", *_PICTURE_FIELDS))
_OF_SETTLE = dict.fromkeys(("quiet_ms", "max_ms", "ignore"))


@dataclass(frozen=True)
class Observe:
    """Observation that a request asks for after its action."""

    screenshot: bool
    settle: SettleRule | None
    """Rule of settling; its regions are in native pixels."""
    options: PictureOptions
    targets: bool = False
    """True if the answer describes what the action was aimed at."""


@dataclass(frozen=True)
class ActionRequest:
    """One action, its points in native pixels, and the space in which they were given."""

    name: str
    action: Action
    space: Space
    text: str | None = None
    observe: Observe | None = None
    point: ActionPoint | None = None
    """Where the action happens, or ends."""
    clamped: bool = False
    """Whether a point of the request lies outside of its space."""


@dataclass(frozen=True)
class BatchRequest:
    """Actions in order, with one observation at the end."""

    actions: tuple[ActionRequest, ...]
    space: Space
    observe: Observe | None


def decode(body: bytes) -> Json:
    """Read the JSON object of a request's body.

    Raises:
        InvalidAction: If it is none.
    """
    try:
        # json.loads detects UTF-16 in bytes and accepts surrogates; RFC 8259 demands UTF-8.
        # A byte order mark is no part of JSON, but PowerShell and old editors write one.
        value = json.loads(body.decode().removeprefix("\ufeff"), parse_constant=_no_constant)
        if b"\\u" in body:
            # JSON accepts a lone surrogate, but no reply could encode it as UTF-8.
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise InvalidAction(UNREADABLE, str(error)) from error
    if not isinstance(value, dict):
        raise InvalidAction(UNREADABLE, "The body must be a JSON object.")
    return value


def action_request(data: Json, native: Size) -> ActionRequest:
    """Read ``{"action": ..., ...}`` for a screen of size ``native``.

    Raises:
        InvalidAction: If anything about it is wrong.
    """
    return _action(data, native, space_of(data, native), _observe(data, native))


def batch_request(data: Json, native: Size) -> BatchRequest:
    """Read ``{"actions": [...], ...}``; actions without a space of their own have the batch's.

    Raises:
        InvalidAction: If anything about it is wrong; its detail says in which action.
    """
    known(data, _OF_BATCH)
    if data.get("actions") is None:
        raise InvalidAction('Missing "actions".')
    common = space_of(data, native)
    actions = []
    for index, item in enumerate(items("actions", data["actions"], 1, LONGEST_BATCH)):
        try:
            actions.append(_member(item, native, common))
        except InvalidAction as error:
            detail = f"In actions[{index}]. {error.detail}".strip()
            raise InvalidAction(error.message, detail) from error
    return BatchRequest(tuple(actions), common, _observe(data, native))


def _member(item: Any, native: Size, common: Space) -> ActionRequest:
    if not isinstance(item, dict):
        raise wrong("actions", "a list of objects")
    if item.get("observe") is not None:
        raise InvalidAction('"observe" belongs to the batch, not to one of its actions.')
    # An action with a space of its own ignores the batch's, in all three fields.
    own = any(item.get(name) is not None for name in SPACE_FIELDS)
    return _action(item, native, space_of(item, native) if own else common, None)


def _action(data: Json, native: Size, in_space: Space, observe: Observe | None) -> ActionRequest:
    name = text("action", data.get("action") or "")
    kind = ACTIONS.get(name)
    if kind is None:
        raise InvalidAction(f"Unknown action: {name}")
    known(data, _OF_ACTION)
    own = (*kind.needs, *kind.takes)
    values = _values(data, own)
    if data.get("coordinate") is not None and "coordinate" not in own:
        # Passed over, the action would have its effect in another place than the one meant.
        hint = "Keys go to the widget with the keyboard: click it first." if "text" in own else ""
        raise InvalidAction(f'{name} takes no "coordinate".', hint)
    # A field that this action does not use is ignored if it is well formed: models send superfluous
    # fields, and refusing them would cost a step.
    _check_unused(data, values)
    for needed in kind.needs:
        # An empty text can be typed; an empty name of a key is a mistake.
        if needed not in values or (name != "type" and values[needed] == ""):
            raise InvalidAction(f'Missing "{needed}" for {name} action.')
    # Built in the request's space first: the table knows nothing of spaces.
    action = kind.build(values)
    points = points_of(action)
    for point in points:
        _check_inside(point, in_space)
    native_action = located(action, lambda point: convert(point, in_space.size, native))
    return ActionRequest(
        name,
        scaled_scroll(native_action, in_space.size, native),
        in_space,
        values.get("text"),
        observe,
        requested_point(points[-1], in_space, native) if points else None,
        clamped=not all(contains(in_space.size, point) for point in points),
    )


def picture_of(request: ActionRequest, native: Size) -> View:
    """Return the view of a request: its own, or that of its observation."""
    # A screenshot action has its options itself; every other action has those of its observation.
    if isinstance(request.action, Screenshot):
        return view(request.action.options, request.space, native, request.action.region)
    options = request.observe.options if request.observe else PictureOptions()
    return view(options, request.space, native)


def space_of(data: Json, native: Size) -> Space:
    """Read the space of a request, which all its points, regions and screenshots share."""
    name, width, height = (data.get(field) for field in SPACE_FIELDS)
    # Without any of the three fields the space is what the model sees.
    if width is None and height is None:
        if name is not None and name not in SPACES:
            raise InvalidAction(f'"coordinate_space" must be one of {", ".join(SPACES)}.')
        return space(cast(SpaceName, name or "model"), native)
    if width is None or height is None:
        raise InvalidAction('Give both "scaled_width" and "scaled_height", or neither.')
    if name is not None:
        raise InvalidAction('Give "coordinate_space" or a scaled size, not both.')
    scaled = Size(
        within(SMALLEST_PICTURE, native.width)("scaled_width", width),
        within(SMALLEST_PICTURE, native.height)("scaled_height", height),
    )
    return space("scaled", native, scaled)


def _observe(data: Json, native: Size) -> Observe | None:
    value = data.get("observe")
    if value is None or value is False:
        return None
    if value is True:
        value = {}
    if not isinstance(value, dict):
        raise wrong("observe", "an object")
    known(value, _OF_OBSERVE)
    wanted = value.get("screenshot")
    return Observe(
        True if wanted is None else flag("screenshot", wanted),
        _settle(value.get("settle"), space_of(data, native), native),
        picture_options(_values(value, _PICTURE_FIELDS)),
        value.get("targets") is not None and flag("targets", value["targets"]),
    )


def _settle(value: Any, in_space: Space, native: Size) -> SettleRule | None:
    if value is False:
        return None
    if value is None or value is True:
        value = {}
    if not isinstance(value, dict):
        raise wrong("settle", "an object")
    known(value, _OF_SETTLE)
    milliseconds = {
        name: within(0, LONGEST_SETTLE)(name, value[name])
        for name in ("quiet_ms", "max_ms")
        if value.get(name) is not None
    }
    ignored = value.get("ignore")
    regions = [] if ignored is None else items("ignore", ignored, 0, MOST_IGNORED)
    quiet = milliseconds.get("quiet_ms", 100) / 1000
    return SettleRule(
        quiet=quiet,
        small_quiet=quiet if "quiet_ms" in milliseconds else SettleRule.small_quiet,
        # A caller that asks for a longer quiet time does not accept a shorter one when nothing
        # changes at all.
        grace=max(SettleRule.grace, quiet),
        longest=milliseconds.get("max_ms", 3000) / 1000,
        ignore=tuple(
            convert_region(region("ignore", item), in_space.size, native) for item in regions
        ),
    )


def _values(data: Json, names: tuple[str, ...]) -> Values:
    return {
        name: FIELDS[name].read(name, data[name]) for name in names if data.get(name) is not None
    }


def _check_inside(point: Point, in_space: Space) -> None:
    """Refuse a point that is further outside than a model is wrong about an edge."""
    width, height = in_space.size
    reach = Region(-MOST_OUTSIDE, -MOST_OUTSIDE, width + MOST_OUTSIDE, height + MOST_OUTSIDE)
    if reach.holds(point):
        return
    of = "grid" if in_space.name == "normalized_1000" else "screenshot"
    message = f"({point.x}, {point.y}) is outside of the {of}, which is {width}x{height}."
    raise InvalidAction(message, f"x is from 0 to {width - 1}, y from 0 to {height - 1}.")


def _check_unused(data: Json, read: Values) -> None:
    """Refuse a field of the wrong kind even where this action does not use it."""
    if all(name in read or name not in FIELDS for name in data):
        return
    for name, field in FIELDS.items():
        if name in read or data.get(name) is None:
            continue
        try:
            field.read(name, data[name])
        except InvalidAction as error:
            if error.message == UNREADABLE:
                raise


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
