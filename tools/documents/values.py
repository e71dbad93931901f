"""Single values of a document. Pure.

There are two ways to read a scalar: ``scalar`` returns it as it is written, so ``3`` and ``yes``
are texts too. ``text`` and ``content`` accept only what YAML reads as a text; the others must be
quoted.
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar

import yaml

from .documents import fail

T = TypeVar("T")

_NULL = "tag:yaml.org,2002:null"


def is_null(node: yaml.Node) -> bool:
    """Return whether a key has no value."""
    return isinstance(node, yaml.ScalarNode) and node.tag == _NULL


def items(node: yaml.Node, what: str = "") -> list[yaml.Node]:
    """Return the entries of a list."""
    if not isinstance(node, yaml.SequenceNode):
        fail(node, f"{what} must be a list".lstrip())
    return list(node.value)


def each(node: yaml.Node, read: Callable[[yaml.Node], T]) -> tuple[T, ...]:
    """Return the entries of a list, each read."""
    return tuple(read(item) for item in items(node))


def scalar(node: yaml.Node, what: str) -> str:
    """Return the text of a scalar as it is written, numbers and booleans too."""
    if isinstance(node, yaml.MappingNode):
        fail(node, f"{what} must be a text; put a text that begins with {{ in quotes")
    if not isinstance(node, yaml.ScalarNode) or is_null(node):
        fail(node, f"{what} must be a text")
    return str(node.value)


def integer(node: yaml.Node, what: str, least: int, most: int) -> int:
    """Return a whole number in that range."""
    value = number(node, what, least, most)
    if value != int(value):
        fail(node, f"{what} must be a whole number")
    return int(value)


def number(node: yaml.Node, what: str, least: float, most: float) -> float:
    """Return a number in that range."""
    try:
        value = float(scalar(node, what))
    except ValueError:
        fail(node, f"{what} must be a number")
    if not (math.isfinite(value) and least <= value <= most):
        fail(node, f"{what} must be from {least:g} to {most:g}")
    return value


def text(node: yaml.Node) -> str:
    """Return a text that is not blank."""
    found = content(node)
    if not found.strip():
        fail(node, "must not be empty")
    return found


def content(node: yaml.Node) -> str:
    """Return a text, which may be empty."""
    found = value(node)
    if not isinstance(found, str):
        fail(node, f"must be a text, not {_kind(found)}; quote it")
    return found


def positive(node: yaml.Node) -> float:
    """Return a number above 0."""
    found = value(node)
    if isinstance(found, bool) or not isinstance(found, int | float) or not found > 0:
        fail(node, "must be a number above 0")
    return float(found)


def count(node: yaml.Node) -> int:
    """Return a whole number above 0."""
    found = value(node)
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        fail(node, "must be a whole number above 0")
    return found


def value(node: yaml.Node) -> Any:
    """Return the value that YAML gives a node."""
    try:
        # ``deep`` constructs the values below the node at once, not when they are used.
        return yaml.SafeLoader("").construct_object(node, deep=True)
    except (yaml.YAMLError, ValueError) as error:
        fail(node, f"cannot be read: {error}")


def _kind(found: object) -> str:
    if found is None:
        return "nothing"
    if isinstance(found, bool):
        return "true or false"
    if isinstance(found, int | float):
        return "a number"
    return "a list" if isinstance(found, list) else "a mapping"
