"""Parameters of a command, read and checked. Pure."""

from collections.abc import Mapping
from typing import Any

from .errors import FailedCommand

Params = Mapping[str, Any]

_LARGEST = 2**53
"""Integers beyond it are not interoperable in JSON (RFC 8259, section 6)."""


def text(params: Params, name: str, default: str | None = None) -> str:
    """Return a text; without ``default`` it is required."""
    value = params.get(name)
    value = default if value is None else value
    if not isinstance(value, str):
        raise FailedCommand(f"{name} must be a text")
    return value


def number(params: Params, name: str, default: float | None = None) -> float:
    """Return a number of at most 2**53; without ``default`` it is required."""
    value = params.get(name)
    value = default if value is None else value
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LARGEST:
        raise FailedCommand(f"{name} must be a number")
    return float(value)


def whole(params: Params, name: str, default: int | None = None) -> int:
    """Return a number rounded to a whole one."""
    return round(number(params, name, default))


def flag(params: Params, name: str) -> bool:
    """Return true or false; false if it is missing."""
    value = params.get(name)
    if not isinstance(value, bool | None):
        raise FailedCommand(f"{name} must be true or false")
    return bool(value)


def texts(params: Params, name: str) -> list[str]:
    """Return a list of texts; a single text is a list of one."""
    value = params.get(name)
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise FailedCommand(f"{name} must be a list of texts")
    return list(value)


def point(params: Params) -> list[int] | None:
    """Return the point ``x``, ``y``; None if neither is given."""
    if params.get("x") is None and params.get("y") is None:
        return None
    return [whole(params, "x"), whole(params, "y")]


def path(params: Params) -> list[list[int]]:
    """Return the points of ``path``, two or more."""
    value = params.get("path")
    if not isinstance(value, list) or len(value) < 2:
        raise FailedCommand("path must be a list of two or more points")
    found = []
    for item in value:
        if not isinstance(item, list) or len(item) != 2:
            raise FailedCommand("a point of path is a list of two numbers")
        found.append([whole({"x": item[0]}, "x"), whole({"y": item[1]}, "y")])
    return found
