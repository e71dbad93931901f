"""The fields of the JSON objects that callers send: one declaration yields check and schema. Pure.

A `Field` has the JSON Schema of its value and the reader of it. `Fields` are those of one object,
such as the arguments of a tool. They refuse the whole object for a field that is unknown, for a
required one that is missing or null, and for a value that its reader refuses, so that a caller that
misspells a name, or whose request was cut off, gets an error instead of something else than it
asked for. Null for any other field means that the field is not given: clients that must send every
field of a schema have no other way to leave one out.

Some readers also accept a value of another type where its meaning is unambiguous, as models write
``"true"`` and ``"3"``.
"""

import difflib
import json
import math
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from .durations import parse_duration
from .errors import BadField

Json = dict[str, Any]
Reader = Callable[[str, Any], Any]
"""Returns the value of a field from its name and JSON value; raises :class:`BadField`.

It returns None for a value that stands for none, such as an empty text instead of a duration.
"""

UNREADABLE = "Failed to decode request body."
# The largest integer up to which all are exact in a double (RFC 8259, section 6).
FURTHEST = 2**53


@dataclass(frozen=True)
class Field:
    """One field of an object."""

    schema: Json
    """JSON Schema of its value."""
    read: Reader
    default: Any = None
    """The value of a field that is not given."""


@dataclass(frozen=True)
class Fields:
    """The fields of an object."""

    of: Mapping[str, Field]
    required: tuple[str, ...] = ()
    former: Mapping[str, str] = field(default_factory=dict)
    """Today's names of fields by their former ones, which are still read."""

    @property
    def schema(self) -> Json:
        """JSON Schema of the object."""
        properties = {name: one.schema for name, one in self.of.items()}
        found: Json = {"type": "object", "properties": properties}
        return found | ({"required": list(self.required)} if self.required else {})

    def read(self, given: object, within: str = "") -> Json:
        """Return the value of each field; ``within`` names the object that this one is part of.

        Raises:
            BadField: If anything about the object is wrong.
        """
        inside = f"{within}." if within else ""
        if not isinstance(given, dict):
            expected = "an object" if within else "an object, not a JSON array or a value"
            raise wrong(within or "the input", expected)
        named = self._renamed(given)
        known(named, self.of, inside)
        for name in self.required:
            if named.get(name) is None:
                raise missing(f"{inside}{name}")
        return {name: self._value(name, named, inside) for name in self.of}

    def _renamed(self, given: Json) -> Json:
        renamed = {new for old, new in self.former.items() if old in given and new not in given}
        return {
            self.former[name] if self.former.get(name) in renamed else name: value
            for name, value in given.items()
        }

    def _value(self, name: str, given: Json, inside: str) -> Any:
        one, value = self.of[name], given.get(name)
        found = None if value is None else one.read(f"{inside}{name}", value)
        return one.default if found is None else found


def wrong(name: str, expected: str) -> BadField:
    """Return the error for a value of the wrong kind."""
    detail = f'"{name}" must be {expected}.'
    return BadField(name, f"{name} must be {expected}", UNREADABLE, detail)


def outside(name: str, rule: str) -> BadField:
    """Return the error for a value that breaks a rule, such as ``must be from 1 to 9``."""
    return BadField(name, f"{name} {rule}", f'"{name}" {rule}.')


def missing(name: str) -> BadField:
    """Return the error for a required field that is not there, or has no value."""
    return BadField(name, f"{name} is required", f'"{name}" is required.')


def known(given: Mapping[str, Any], names: Collection[str], inside: str = "") -> None:
    """Check that all given names are known.

    Raises:
        BadField: For the first that is not; the error suggests the nearest known name.
    """
    for name in given:
        if name not in names:
            close = difflib.get_close_matches(name, names, n=1)
            listed = f"known: {', '.join(names)}" if names else "none is known"
            advice = f"did you mean {close[0]}?" if close else listed
            raise BadField(
                f"{inside}{name}",
                f"unknown argument {inside}{name}: {advice}",
                f'Unknown field "{inside}{name}".',
                f'Did you mean "{close[0]}"?' if close else "",
            )


def whole_number(name: str, value: Any) -> int:
    """Read an integer; ``3.0`` is one, ``true`` and ``NaN`` are not."""
    # JSON has one kind of number: some encoders write 3.0 for 3. Python's bool is an int, so that
    # true would otherwise read as 1.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong(name, "a whole number")
    # A larger number is clamped instead of refused, as any point outside the screen is.
    return min(max(value, -FURTHEST), FURTHEST)


def number(name: str, value: Any) -> float:
    """Read a finite number."""
    # The decoder refuses NaN and Infinity, but 1e999 is valid JSON and becomes inf.
    if not is_number(value):
        raise wrong(name, "a number")
    return float(min(max(value, -FURTHEST), FURTHEST))


def count(name: str, value: Any) -> int:
    """Read an integer from 0 on, which may be written as a text."""
    # ``isdigit`` alone accepts digits of other scripts, and superscripts that ``int`` rejects.
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= FURTHEST:
        raise wrong(name, "a whole number from 0 on")
    return value


def within(least: int, most: int) -> Callable[[str, Any], int]:
    """Return a reader of integers from ``least`` to ``most``."""

    def read(name: str, value: Any) -> int:
        result = whole_number(name, value)
        if not least <= result <= most:
            raise outside(name, f"must be from {least} to {most}")
        return result

    return read


def between(least: float, most: float) -> Reader:
    """Return a reader of numbers from ``least`` to ``most``."""

    def read(name: str, value: Any) -> float:
        if not is_number(value) or not least <= value <= most:
            raise outside(name, f"must be a number from {least:g} to {most:g}")
        return value

    return read


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a JSON value is a finite number; Python's booleans are none."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def one_of(*words: str) -> Callable[[str, Any], str]:
    """Return a reader of one of the given words."""

    def read(name: str, value: Any) -> str:
        if value not in words:
            raise outside(name, f"must be one of {', '.join(words)}")
        return str(value)

    return read


def flag(name: str, value: Any) -> bool:
    """Read true or false."""
    if not isinstance(value, bool):
        raise wrong(name, "true or false")
    return value


def spoken_flag(name: str, value: Any) -> bool | None:
    """Read true or false, which may be written as a text; an empty one stands for none."""
    if value == "":
        return None
    word = value.lower() if isinstance(value, str) else ""
    return word == "true" if word in ("true", "false") else flag(name, value)


def any_text(name: str, value: Any) -> str:
    """Read a text of any length that can be encoded."""
    if not isinstance(value, str):
        raise wrong(name, "a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        # JSON accepts a lone surrogate, which has no encoding in UTF-8.
        raise wrong(name, "a text without lone surrogates") from None
    return value


def filled_text(name: str, value: Any) -> str:
    """Read a text that is not blank."""
    if not any_text(name, value).strip():
        raise missing(name)
    return str(value)


def word(name: str, value: Any) -> str:
    """Read a text that is not blank, without the blanks around it."""
    return filled_text(name, value).strip()


def optional_word(name: str, value: Any) -> str | None:
    """Read a text without the blanks around it; a blank one stands for none."""
    return any_text(name, value).strip() or None


def items(name: str, value: Any, least: int, most: int) -> list[Any]:
    """Read a list of ``least`` to ``most`` items."""
    if not isinstance(value, list):
        raise wrong(name, "a list")
    if not least <= len(value) <= most:
        raise outside(name, f"must have {least} to {most} items")
    return value


def each(read: Reader) -> Callable[[str, Any], tuple[Any, ...]]:
    """Return a reader of a list of any length, whose items ``read`` reads."""

    def read_all(name: str, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise wrong(name, "a list")
        return tuple(read(f"{name}[{index}]", item) for index, item in enumerate(value))

    return read_all


def nested(fields: Fields) -> Reader:
    """Return a reader of an object with these fields."""
    return lambda name, value: fields.read(value, name)


def written(read: Reader) -> Reader:
    """Return a reader of a value that may also be written as JSON in a text."""

    def read_either(name: str, value: Any) -> Any:
        if isinstance(value, str):
            # Of a text that is no JSON the reader says what it must be.
            with suppress(ValueError, RecursionError):
                value = json.loads(value)
        return read(name, value)

    return read_either


def anything(name: str, value: Any) -> Any:
    """Return the value, which the caller of the reader checks."""
    return value


def duration(name: str, value: Any) -> float | None:
    """Read a duration in seconds, as a number or as ``5m``; an empty text stands for none."""
    if value == "":
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError(value)
        return parse_duration(value)
    except ValueError as error:
        advice = "write a duration as 30s, 5m or 1h30m"
        said = f'invalid {name} "{value}": {advice}'
        raise BadField(name, said, f'Invalid "{name}".', f"{advice.capitalize()}.") from error


def at_home(text: str, home: Path | str) -> str:
    """Return a path with ``home`` in place of ``~``, if that is its first component."""
    if text != "~" and not text.startswith("~/"):
        return text
    return str(Path(home, text[1:].lstrip("/")))
