"""Mappings of a YAML document, read field by field; every error has its line."""

import math
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import NoReturn

import yaml

from deskhand.tools.playbooks.errors import BadPlaybook
from deskhand.tools.playbooks.texts import references

MOST_CHARACTERS = 1_000_000

_NULL = "tag:yaml.org,2002:null"
_BOOLEANS = {"true": True, "false": False}


def document(text: str) -> yaml.Node:
    """Return the root node of a document.

    Raises:
        BadPlaybook: If the text is not YAML, or too long.
    """
    if len(text) > MOST_CHARACTERS:
        raise BadPlaybook(f"a playbook has at most {MOST_CHARACTERS} characters")
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise BadPlaybook(
            f"this is not YAML: {error.problem}", None if mark is None else mark.line + 1
        ) from error
    except yaml.YAMLError as error:
        raise BadPlaybook(f"this is not YAML: {error}") from error
    except RecursionError:
        raise BadPlaybook("this is nested too deeply") from None
    if node is None:
        raise BadPlaybook("the playbook is empty")
    return node


def line_of(node: yaml.Node) -> int:
    """Return the line of a node, counted from 1."""
    return int(node.start_mark.line) + 1


def fail(node: yaml.Node, text: str) -> NoReturn:
    """Raise the error ``text`` with the line of a node."""
    raise BadPlaybook(text, line_of(node))


def nearest(name: str, known: Sequence[str]) -> str:
    """Return the end of a sentence about an unknown name: the nearest one, or all."""
    near = get_close_matches(name, known, 1, 0.6)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"


def items(node: yaml.Node, what: str) -> list[yaml.Node]:
    """Return the entries of a list."""
    if not isinstance(node, yaml.SequenceNode):
        fail(node, f"{what} must be a list")
    return list(node.value)


def scalar(node: yaml.Node, what: str) -> str:
    """Return the text of a scalar as it is written, numbers and booleans too."""
    if isinstance(node, yaml.MappingNode):
        fail(node, f"{what} must be a text; put a text that begins with {{ in quotes")
    if not isinstance(node, yaml.ScalarNode) or node.tag == _NULL:
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


class Fields:
    """The fields of one mapping, of which only the known ones may be there."""

    def __init__(self, node: yaml.Node, what: str, known: Sequence[str]) -> None:
        """Check the keys; ``what`` names the mapping in errors.

        Raises:
            BadPlaybook: If it is no mapping, or a key is unknown or there twice.
        """
        if not isinstance(node, yaml.MappingNode):
            fail(node, f"{what} must be a mapping with {', '.join(known)}")
        self.node = node
        self.what = what
        self._fields: dict[str, yaml.Node] = {}
        for key, value in node.value:
            name = scalar(key, f"a key of {what}")
            if name not in known:
                fail(key, f"{what} has no key {name!r}; {nearest(name, known)}")
            if name in self._fields:
                fail(key, f"{what} has the key {name!r} twice")
            self._fields[name] = value

    def __contains__(self, key: str) -> bool:
        return key in self._fields

    def node_of(self, key: str) -> yaml.Node | None:
        """Return the node of a field."""
        return self._fields.get(key)

    def required(self, key: str) -> yaml.Node:
        """Return the node of a field that must be there."""
        if key not in self._fields:
            fail(self.node, f"{self.what} needs {key!r}")
        return self._fields[key]

    def each(self, key: str) -> Iterator[yaml.Node]:
        """Yield the entries of a list that may be missing."""
        if key in self._fields:
            yield from items(self._fields[key], key)

    def text(self, key: str, default: str = "") -> str:
        """Return a text that is not empty."""
        if key not in self._fields:
            return default
        value = scalar(self._fields[key], key)
        if not value:
            fail(self._fields[key], f"{key} must not be empty")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; one text stands for a list of it."""
        node = self._fields.get(key)
        if node is None:
            return ()
        if isinstance(node, yaml.ScalarNode):
            return (scalar(node, key),)
        return tuple(scalar(one, f"each of {key}") for one in items(node, key))

    def flag(self, key: str) -> bool | None:
        """Return ``true`` or ``false``; ``None`` if the field is missing."""
        node = self._fields.get(key)
        if node is None:
            return None
        value = _BOOLEANS.get(scalar(node, key).lower())
        if value is None:
            fail(node, f"{key} must be true or false")
        return value

    def choice(self, key: str, known: Sequence[str], default: str | None = None) -> str | None:
        """Return one of the known words."""
        node = self._fields.get(key)
        if node is None:
            return default
        value = scalar(node, key)
        if value not in known:
            fail(node, f"{key} {value!r} is unknown; {nearest(value, known)}")
        return value

    def number(self, key: str, default: float, *, least: float, most: float) -> float:
        """Return a number in that range."""
        node = self._fields.get(key)
        return default if node is None else number(node, key, least, most)

    def integer(self, key: str, default: int, *, least: int, most: int) -> int:
        """Return a whole number in that range."""
        node = self._fields.get(key)
        return default if node is None else integer(node, key, least, most)

    def integers(self, key: str, shape: str, most: int = 100_000) -> tuple[int, ...] | None:
        """Return as many whole numbers as ``shape``, such as ``[x, y]``, has."""
        node = self._fields.get(key)
        if node is None:
            return None
        found = items(node, key)
        if len(found) != shape.count(",") + 1:
            fail(node, f"{key} must be {shape}")
        return tuple(integer(one, f"each number of {key}", 0, most) for one in found)


def check_references(node: yaml.Node, known: Sequence[str]) -> None:
    """Check that all texts below a node name known parameters only.

    Raises:
        BadPlaybook: For the first reference to an unknown one.
    """
    for one in _scalars(node):
        for name in references(str(one.value)):
            if name not in known:
                advice = nearest(name, known) if known else "the playbook has none"
                literal = f"write {{{{{name}}}}} for the text {{{name}}}"
                fail(one, f"there is no parameter {name!r}; {advice}; {literal}")


def _scalars(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    # Each node once: aliases may repeat or contain a node without end.
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, yaml.ScalarNode):
            yield one
        elif isinstance(one, yaml.SequenceNode):
            waiting += reversed(one.value)
        else:
            waiting += reversed([value for _, value in one.value])
