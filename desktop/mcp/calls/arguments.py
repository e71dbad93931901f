"""Readers for the arguments of a call; models deviate from a schema now and then."""

import re
from typing import Any

from deskhand.desktop.mcp.errors import BadMcpArguments

Json = dict[str, Any]

_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?", re.ASCII)


def text(arguments: Json, name: str, *, required: bool = True) -> str:
    """Return a text; a required one must not be blank."""
    value = arguments.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or (required and not value.strip()):
        raise BadMcpArguments(f"{name} must be a text that is not empty")
    return value


def flag(arguments: Json, name: str, default: bool = False) -> bool:
    """Return a boolean; ``"true"`` and ``"false"`` as texts are accepted."""
    value = arguments.get(name)
    if value is None:
        return default
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise BadMcpArguments(f"{name} must be true or false")
    return value


def number(arguments: Json, name: str) -> int:
    """Return a whole number from 0 on, 0 if it is missing."""
    value = arguments.get(name)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise BadMcpArguments(f"{name} must be a whole number from 0 on")
    return value


def seconds(arguments: Json, name: str, default: float, most: float) -> float:
    """Return a duration such as ``30s``, ``5m`` or 30 in seconds, at most ``most``."""
    value = arguments.get(name)
    if value is None or value == "":
        return min(default, most)
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return min(float(value), most)
    found = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise BadMcpArguments(f"{name} must be a duration such as 30s or 1m30s")
    hours, minutes, rest = (float(part or 0) for part in found.groups())
    return min(3600 * hours + 60 * minutes + rest, most)


def choice(arguments: Json, name: str, *values: str) -> str:
    """Return one of the permitted values."""
    value = arguments.get(name)
    if value not in values:
        raise BadMcpArguments(f"{name} must be {', '.join(values[:-1])} or {values[-1]}")
    return str(value)
