"""Readers for the arguments of a tool call.

Models deviate from the schema now and then (``"true"``, ``"3"``, ``3.0``, ``null`` for a missing
value). The readers accept such a value where its meaning is unambiguous.
"""

import difflib
from typing import Any

from .duration import parse_duration
from .spec import Json

INTENT = "model_intent"
"""Argument that any call may have: what it is for, shown to people."""


class BadArguments(Exception):
    """The arguments cannot be used; the text is the reason, for the model."""


def check_known(arguments: Json, schema: Json) -> None:
    """Check that a schema of arguments has a property for each argument.

    Raises:
        BadArguments: For the first that it has not; the text has the nearest name.
    """
    known = [*schema["properties"], INTENT]
    for name in arguments:
        if name not in known:
            nearest = difflib.get_close_matches(name, known, 1)
            suggestion = f"did you mean {nearest[0]}?" if nearest else f"known: {', '.join(known)}"
            raise BadArguments(f"unknown argument {name}: {suggestion}")


def text(arguments: Json, name: str) -> str:
    """Return a required text, which must not be blank."""
    value = optional_text(arguments, name)
    if not value.strip():
        raise BadArguments(f"{name} is required")
    return value


def optional_text(arguments: Json, name: str) -> str:
    """Return a text, empty if it is missing."""
    value = arguments.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadArguments(f"{name} must be a text")
    return value


def flag(arguments: Json, name: str) -> bool:
    """Return a boolean; ``"true"`` and ``"false"`` as texts are accepted."""
    value = arguments.get(name, False)
    if isinstance(value, str) and value.lower() in ("true", "false", ""):
        return value.lower() == "true"
    if not isinstance(value, bool | None):
        raise BadArguments(f"{name} must be true or false")
    return bool(value)


def number(arguments: Json, name: str) -> int:
    """Return a whole number >= 0, 0 if it is missing."""
    value: Any = arguments.get(name, 0)
    # ``isdigit`` alone accepts digits of other scripts, and superscripts that ``int`` rejects.
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadArguments(f"{name} must be a whole number from 0 on")
    return value


def duration(arguments: Json, name: str, default: str) -> float:
    """Return a duration in seconds."""
    value = arguments.get(name)
    if value is None or value == "":
        value = default
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError(value)
        return parse_duration(value)
    except ValueError as error:
        raise BadArguments(
            f'invalid {name} "{value}": write a duration as 30s, 5m or 1h30m'
        ) from error
