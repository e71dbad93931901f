"""The fields of actions: for each its schema and its reader."""

from typing import Any

from deskhand.desktop.domains import LONGEST, UNENCRYPTED, is_domain_entry
from deskhand.desktop.errors import BadField
from deskhand.desktop.fields import (
    Field,
    Json,
    flag,
    items,
    number,
    one_of,
    outside,
    whole_number,
    within,
    wrong,
)
from deskhand.desktop.geometry import Point, Region

LONGEST_TEXT = 100_000
LONGEST_PATH = 10_000
LONGEST_DURATION = 100.0
MOST_HOSTS = 16
MOST_NOTCHES = 1_000
MOST_PIXELS = 100_000
BUTTON_NAMES = ("left", "middle", "right", "back", "forward")
DIRECTIONS = ("up", "down", "left", "right")


def text(name: str, value: Any) -> str:
    """Read a text."""
    if not isinstance(value, str):
        raise wrong(name, "a text")
    if len(value) > LONGEST_TEXT:
        raise outside(name, f"must have at most {LONGEST_TEXT} characters")
    return value


def texts(name: str, value: Any) -> tuple[str, ...]:
    """Read a short list of texts."""
    return tuple(text(name, item) for item in items(name, value, 0, 16))


def domains(name: str, value: Any) -> tuple[str, ...]:
    """Read one or more hosts or domains."""
    found = tuple(text(name, item) for item in items(name, value, 1, MOST_HOSTS))
    for one in found:
        if not is_domain_entry(one):
            raise outside(name, "must be hosts or domains, as mail.example")
    return found


def point(name: str, value: Any) -> Point:
    """Read ``[x, y]``."""
    if not isinstance(value, list) or len(value) != 2:
        raise wrong(name, "a point [x, y]")
    return Point(whole_number(name, value[0]), whole_number(name, value[1]))


def path(name: str, value: Any) -> tuple[Point, ...]:
    """Read two or more points."""
    return tuple(point(name, item) for item in items(name, value, 2, LONGEST_PATH))


def region(name: str, value: Any) -> Region:
    """Read ``[x1, y1, x2, y2]``."""
    if not isinstance(value, list) or len(value) != 4:
        raise wrong(name, "a region [x1, y1, x2, y2]")
    return Region(*(whole_number(name, item) for item in value))


def direction(name: str, value: Any) -> str:
    """Read the direction of a scroll."""
    if text(name, value) not in DIRECTIONS:
        rule = f"{name} must be one of {', '.join(DIRECTIONS)}"
        raise BadField(name, rule, f"Invalid scroll direction: {value}")
    return str(value)


def seconds(name: str, value: Any) -> float:
    """Read a duration in seconds."""
    result = number(name, value)
    # A duration above five minutes is almost always one in milliseconds, so the error names the
    # field for those.
    if result > 300:
        rule = f"is in seconds, at most {LONGEST_DURATION:.0f}"
        hint = 'For milliseconds there is "duration_ms".' if name == "duration" else ""
        raise BadField(name, f"{name} {rule}", f'"{name}" {rule}.', hint)
    return _short_enough(name, result, f"{LONGEST_DURATION:.0f} seconds")


def milliseconds(name: str, value: Any) -> float:
    """Read a duration in milliseconds and return it in seconds."""
    most = f"{LONGEST_DURATION * 1000:.0f} milliseconds"
    return _short_enough(name, number(name, value) / 1000, most)


def _short_enough(name: str, value: float, most: str) -> float:
    if not 0 <= value <= LONGEST_DURATION:
        raise outside(name, f"must be from 0 to {most}")
    return value


_POINT: Json = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
_REGION: Json = {"type": "array", "items": {"type": "integer"}, "minItems": 4, "maxItems": 4}
_PIXELS: Json = {"type": "integer", "minimum": -MOST_PIXELS, "maximum": MOST_PIXELS}

# The error messages of the readers are part of the contract: the cases of the reference check them
# word by word.
FIELDS: dict[str, Field] = {
    "text": Field({"type": "string", "maxLength": LONGEST_TEXT}, text),
    "coordinate": Field({**_POINT, "description": "Where, as [x, y]."}, point),
    "start_coordinate": Field({**_POINT, "description": "Where a drag begins."}, point),
    "path": Field(
        {
            "type": "array",
            "items": _POINT,
            "minItems": 2,
            "maxItems": LONGEST_PATH,
            "description": "All points of a drag, instead of its two ends.",
        },
        path,
    ),
    "modifiers": Field(
        {
            "type": "array",
            "items": {"type": "string"},
            "maxItems": 16,
            "description": "Keys held down meanwhile; \"text\" may name them too, as 'ctrl+shift'.",
        },
        texts,
    ),
    "button": Field(
        {
            "type": "string",
            "enum": list(BUTTON_NAMES),
            "description": "Button of a drag, or of a double or triple click; left by default.",
        },
        one_of(*BUTTON_NAMES),
    ),
    "duration": Field(
        {
            "type": "number",
            "minimum": 0,
            "maximum": LONGEST_DURATION,
            "description": "Seconds; fractions are fine.",
        },
        seconds,
    ),
    "duration_ms": Field(
        {
            "type": "number",
            "minimum": 0,
            "maximum": LONGEST_DURATION * 1000,
            "description": 'Milliseconds, instead of the seconds of "duration".',
        },
        milliseconds,
    ),
    "delay_ms": Field(
        {
            "type": "integer",
            "minimum": 0,
            "maximum": 1000,
            "description": "Pause after each character, for slow applications.",
        },
        within(0, 1000),
    ),
    "hosts": Field(
        {
            "type": "array",
            "items": {"type": "string", "maxLength": LONGEST + len(UNENCRYPTED)},
            "minItems": 1,
            "maxItems": MOST_HOSTS,
            "description": "Type only if a page of one of these hosts or domains has the keyboard: "
            "with https; with http only that of an entry such as http://intranet.example. "
            "Otherwise, also if that cannot be determined, 409 with code foreign_host. It goes "
            "only into a field of a sign-in: a password field; one whose autocomplete is username, "
            "email, tel, current-password, new-password or one-time-code; or a line of a form with "
            "a password field. Otherwise 409 with code unfit_field. The field shows bullets.",
        },
        domains,
    ),
    "protected": Field(
        {
            "type": "boolean",
            "description": "Type only into the field that has the keyboard now: at once where it "
            "takes that, otherwise with a check after every 8 characters. When the focus has "
            "moved, the rest is withheld: 409 with code focus_moved. True if hosts are given.",
        },
        flag,
    ),
    "any_field": Field(
        {
            "type": "boolean",
            "description": "With hosts: type into any field of their pages.",
        },
        flag,
    ),
    "scroll_direction": Field({"type": "string", "enum": list(DIRECTIONS)}, direction),
    "scroll_amount": Field(
        {"type": "integer", "minimum": 0, "maximum": MOST_NOTCHES, "description": "Wheel notches."},
        within(0, MOST_NOTCHES),
    ),
    "scroll_pixels": Field(
        {
            "type": "integer",
            "minimum": 0,
            "maximum": MOST_PIXELS,
            "description": "Pixels, instead of notches: to the nearest notch, but at least one.",
        },
        within(0, MOST_PIXELS),
    ),
    "scroll_x": Field(
        {**_PIXELS, "description": "Pixels to the right, instead of a direction."},
        within(-MOST_PIXELS, MOST_PIXELS),
    ),
    "scroll_y": Field(
        {**_PIXELS, "description": "Pixels down, instead of a direction."},
        within(-MOST_PIXELS, MOST_PIXELS),
    ),
    "region": Field(
        {**_REGION, "description": "Part of the screen, [x1, y1, x2, y2], half open."}, region
    ),
    "format": Field(
        {"type": "string", "enum": ["png", "jpeg", "webp"]}, one_of("png", "jpeg", "webp")
    ),
    "quality": Field(
        {"type": "integer", "minimum": 1, "maximum": 100, "description": "Of JPEG and WebP."},
        within(1, 100),
    ),
    "cursor": Field({"type": "boolean", "description": "Draw the mouse pointer."}, flag),
    "since": Field(
        {
            "type": "string",
            "maxLength": 200,
            "description": "A frame_id; if the screen has not changed, no picture is sent.",
        },
        text,
    ),
}
"""Fields of single actions, by name."""
