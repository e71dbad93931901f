"""Typed access to a YAML document whose errors name the line. Pure."""

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import yaml

from deskhand.tools.evaluation.errors import BadTask

T = TypeVar("T")
D = TypeVar("D")


def nearest(name: str, known: Sequence[str]) -> str:
    """Return the end of a sentence with the nearest known name, or with all of them."""
    found = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"did you mean {found[0]!r}?" if found else f"known are {', '.join(known)}"


class DocumentReader:
    """One YAML document; every method raises ``BadTask`` with the line of the mistake."""

    def __init__(self, text: str, file: str) -> None:
        self._file = file
        try:
            self._loader = yaml.SafeLoader(text)
            found = self._loader.get_single_node()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark else None
            raise BadTask(file, line, f"is not YAML: {error.problem}") from error
        except yaml.YAMLError as error:
            raise BadTask(file, None, f"is not YAML: {error}") from error
        if found is None:
            raise BadTask(file, None, "is empty")
        self.root: yaml.Node = found

    def fields(self, node: yaml.Node, what: str, known: Sequence[str]) -> "MappingFields":
        """Return the values of a mapping whose keys are all ``known``."""
        pairs = self.pairs(node, what)
        for key, value in pairs.items():
            if key not in known:
                problem = f"unknown key {key!r} in {what}; {nearest(key, known)}"
                raise self.bad(value, problem, self.key_line(node, key))
        return MappingFields(self, node, what, pairs)

    def pairs(self, node: yaml.Node, what: str) -> dict[str, yaml.Node]:
        """Return the values of a mapping with texts as keys."""
        if not isinstance(node, yaml.MappingNode):
            raise self.bad(node, f"{what} must be a mapping of keys to values")
        pairs: dict[str, yaml.Node] = {}
        for key, value in node.value:
            name = self.text(key)
            if name in pairs:
                raise self.bad(key, f"the key {name!r} is in {what} twice")
            pairs[name] = value
        return pairs

    def key_line(self, node: yaml.Node, key: str) -> int:
        """Return the line of a key, from 1."""
        lines = [name.start_mark.line for name, _ in node.value if name.value == key]
        return int(lines[0]) + 1

    def items(self, node: yaml.Node) -> list[yaml.Node]:
        """Return the items of a list."""
        if not isinstance(node, yaml.SequenceNode):
            raise self.bad(node, "must be a list")
        return list(node.value)

    def each(self, node: yaml.Node, read: Callable[[yaml.Node], T]) -> tuple[T, ...]:
        """Return the items of a list, each read."""
        return tuple(read(item) for item in self.items(node))

    def text(self, node: yaml.Node) -> str:
        """Return a text that is not blank."""
        value = self.content(node)
        if not value.strip():
            raise self.bad(node, "must not be empty")
        return value

    def content(self, node: yaml.Node) -> str:
        """Return a text, which may be empty."""
        value = self._value(node)
        if not isinstance(value, str):
            raise self.bad(node, f"must be a text, not {_kind(value)}; quote it")
        return value

    def positive(self, node: yaml.Node) -> float:
        """Return a number above 0."""
        value = self._value(node)
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise self.bad(node, "must be a number above 0")
        return float(value)

    def count(self, node: yaml.Node) -> int:
        """Return a whole number above 0."""
        value = self._value(node)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise self.bad(node, "must be a whole number above 0")
        return value

    def bad(self, node: yaml.Node, problem: str, line: int | None = None) -> BadTask:
        """Return the error for a node."""
        return BadTask(self._file, line or node.start_mark.line + 1, problem)

    def bad_at(self, line: int, problem: str) -> BadTask:
        """Return the error for a line, from 1."""
        return BadTask(self._file, line, problem)

    def _value(self, node: yaml.Node) -> Any:
        try:
            return self._loader.construct_object(node, deep=True)
        except (yaml.YAMLError, ValueError) as error:
            raise self.bad(node, f"cannot be read: {error}") from error


class MappingFields:
    """The values of one mapping."""

    def __init__(
        self, document: DocumentReader, node: yaml.Node, what: str, pairs: Mapping[str, yaml.Node]
    ) -> None:
        self._document = document
        self._node = node
        self._what = what
        self._pairs = pairs

    def needed(self, key: str, read: Callable[[yaml.Node], T]) -> T:
        """Return a value that must be there."""
        if key not in self._pairs:
            raise self._document.bad(self._node, f"{key!r} is missing in {self._what}")
        return self._read(key, read)

    def optional(self, key: str, read: Callable[[yaml.Node], T], default: D) -> T | D:
        """Return a value, or the default if it is absent."""
        return self._read(key, read) if key in self._pairs else default

    def line(self, key: str) -> int:
        """Return the line of a key, from 1."""
        return self._document.key_line(self._node, key)

    def bad(self, key: str, problem: str) -> BadTask:
        """Return the error for the value of a key."""
        return self._document.bad_at(self.line(key), f"{key!r} {problem}")

    def _read(self, key: str, read: Callable[[yaml.Node], T]) -> T:
        try:
            return read(self._pairs[key])
        except BadTask as error:
            # A problem of the value alone does not name its key.
            if error.problem.startswith(("must", "cannot")):
                raise BadTask(error.file, error.line, f"{key!r} {error.problem}") from error
            raise


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    return "a list" if isinstance(value, list) else "a mapping"
