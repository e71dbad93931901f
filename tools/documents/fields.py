"""Mappings of a document, read field by field. Pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NoReturn, TypeVar

import yaml

from .documents import fail, line_of, nearest
from .errors import BadDocument
from .values import integer, items, number, scalar, text

T = TypeVar("T")
D = TypeVar("D")

_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True)
class FieldTexts:
    """The sentences about the keys of a mapping, as formats of ``what``, ``key`` and ``known``."""

    mapping: str = "{what} must be a mapping of keys to values"
    unknown: str = "unknown key {key!r} in {what}; "
    """Before the nearest known key, or all of them."""
    all_known: str = "known are"
    twice: str = "the key {key!r} is in {what} twice"
    missing: str = "{key!r} is missing in {what}"


def pairs(node: yaml.Node, what: str) -> dict[str, yaml.Node]:
    """Return the values of a mapping with texts as keys, whatever they are."""
    return {name: value for name, (_, value) in _entries(node, what, FieldTexts(), text).items()}


class DocumentFields:
    """The fields of one mapping, of which only the known ones may be there."""

    def __init__(
        self, node: yaml.Node, what: str, known: Sequence[str], texts: FieldTexts | None = None
    ) -> None:
        """Check the keys; ``what`` names the mapping in errors.

        Raises:
            BadDocument: If it is no mapping, or a key is unknown or there twice.
        """
        self.node = node
        self.what = what
        self._texts = texts or FieldTexts()
        read = partial(scalar, what=f"a key of {what}")
        entries = _entries(node, what, self._texts, read)
        for name, (key, _) in entries.items():
            if name not in known:
                problem = self._texts.unknown.format(what=what, key=name)
                fail(key, problem + nearest(name, known, self._texts.all_known))
        self._keys = {name: key for name, (key, _) in entries.items()}
        self.nodes = {name: value for name, (_, value) in entries.items()}
        """Values by keys, in the order of the document."""

    def __contains__(self, key: str) -> bool:
        return key in self.nodes

    def node_of(self, key: str) -> yaml.Node | None:
        """Return the node of a field."""
        return self.nodes.get(key)

    def key_of(self, key: str) -> yaml.Node:
        """Return the node of a key that is there."""
        return self._keys[key]

    def line(self, key: str) -> int:
        """Return the line of a key that is there."""
        return line_of(self._keys[key])

    def required(self, key: str) -> yaml.Node:
        """Return the node of a field that must be there."""
        if key not in self.nodes:
            fail(self.node, self._texts.missing.format(what=self.what, key=key))
        return self.nodes[key]

    def needed(self, key: str, read: Callable[[yaml.Node], T]) -> T:
        """Return a value that must be there."""
        self.required(key)
        return self._read(key, read)

    def optional(self, key: str, read: Callable[[yaml.Node], T], default: D) -> T | D:
        """Return a value, or the default if it is absent."""
        return self._read(key, read) if key in self.nodes else default

    def fail(self, key: str, problem: str) -> NoReturn:
        """Raise an error about the value of a key."""
        raise BadDocument(f"{key!r} {problem}", self.line(key))

    def each(self, key: str) -> Iterator[yaml.Node]:
        """Yield the entries of a list that may be missing."""
        if key in self.nodes:
            yield from items(self.nodes[key], key)

    def text(self, key: str, default: str = "") -> str:
        """Return a text that is not empty."""
        if key not in self.nodes:
            return default
        value = scalar(self.nodes[key], key)
        if not value:
            fail(self.nodes[key], f"{key} must not be empty")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; one text stands for a list of it."""
        node = self.nodes.get(key)
        if node is None:
            return ()
        if isinstance(node, yaml.ScalarNode):
            return (scalar(node, key),)
        return tuple(scalar(one, f"each of {key}") for one in items(node, key))

    def flag(self, key: str) -> bool | None:
        """Return ``true`` or ``false``; ``None`` if the field is missing."""
        node = self.nodes.get(key)
        if node is None:
            return None
        value = _BOOLEANS.get(scalar(node, key).lower())
        if value is None:
            fail(node, f"{key} must be true or false")
        return value

    def choice(self, key: str, known: Sequence[str], default: str | None = None) -> str | None:
        """Return one of the known words."""
        node = self.nodes.get(key)
        if node is None:
            return default
        value = scalar(node, key)
        if value not in known:
            fail(
                node, f"{key} {value!r} is unknown; {nearest(value, known, self._texts.all_known)}"
            )
        return value

    def number(self, key: str, default: float, *, least: float, most: float) -> float:
        """Return a number in that range."""
        node = self.nodes.get(key)
        return default if node is None else number(node, key, least, most)

    def integer(self, key: str, default: int, *, least: int, most: int) -> int:
        """Return a whole number in that range."""
        node = self.nodes.get(key)
        return default if node is None else integer(node, key, least, most)

    def integers(self, key: str, shape: str, most: int = 100_000) -> tuple[int, ...] | None:
        """Return as many whole numbers as ``shape``, such as ``[x, y]``, has."""
        node = self.nodes.get(key)
        if node is None:
            return None
        found = items(node, key)
        if len(found) != shape.count(",") + 1:
            fail(node, f"{key} must be {shape}")
        return tuple(integer(one, f"each number of {key}", 0, most) for one in found)

    def _read(self, key: str, read: Callable[[yaml.Node], T]) -> T:
        try:
            return read(self.nodes[key])
        except BadDocument as error:
            # A problem of the value alone does not name its key.
            if error.problem.startswith(("must", "cannot")):
                raise BadDocument(f"{key!r} {error.problem}", error.line) from error
            raise


def _entries(
    node: yaml.Node, what: str, texts: FieldTexts, read: Callable[[yaml.Node], str]
) -> dict[str, tuple[yaml.Node, yaml.Node]]:
    if not isinstance(node, yaml.MappingNode):
        fail(node, texts.mapping.format(what=what))
    found: dict[str, tuple[yaml.Node, yaml.Node]] = {}
    for key, value in node.value:
        name = read(key)
        if name in found:
            fail(key, texts.twice.format(what=what, key=name))
        found[name] = (key, value)
    return found
