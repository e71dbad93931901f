"""Typed access to an OSWorld task, and the list of what is not supported. Pure."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

Json = dict[str, Any]


class BadOsworldTask(Exception):
    """A value of a task file has the wrong type or is missing; the text names it."""


class Gaps:
    """What a task needs and the import does not support, in the order of the file."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, where: str, what: str) -> None:
        """Note one thing; ``where`` is its place in the file."""
        self.found.append(f"{where}: {what}")


def mapping(value: Any, where: str) -> Json:
    """Return a value that must be an object."""
    if not isinstance(value, dict):
        raise BadOsworldTask(f"{where}: must be an object")
    return value


def text_of(fields: Json, key: str, where: str) -> str:
    """Return a text that must be there and not be empty."""
    value = fields.get(key)
    if not isinstance(value, str) or not value:
        raise BadOsworldTask(f"{where}.{key}: must be a text")
    return value


def texts_of(fields: Json, key: str, where: str) -> tuple[str, ...]:
    """Return a list of texts; one text stands for a list of one, nothing for an empty list."""
    value = fields.get(key, [])
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) for one in values):
        raise BadOsworldTask(f"{where}.{key}: must be a text or a list of texts")
    return tuple(values)


def items(value: Any, where: str) -> Sequence[Json]:
    """Return a list of objects; one object stands for a list of one."""
    values = value if isinstance(value, list) else [value]
    return [mapping(one, f"{where} {number}") for number, one in enumerate(values, 1)]


def local_file(address: str) -> str | None:
    """Return the path of a file beside the task, None if the address is anywhere else."""
    parts = urlsplit(address)
    if parts.scheme not in ("", "file") or parts.netloc:
        return None
    # A path of ``file:`` begins with a slash; it is relative to the task all the same.
    path = unquote(parts.path).lstrip("/") if parts.scheme else parts.path
    pieces = Path(path).parts
    if not pieces or Path(path).is_absolute() or ".." in pieces:
        return None
    return path
