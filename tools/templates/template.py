"""A template of desktops, and the strict reading of its file. Pure.

    display_name: Office
    description: A desktop with a word processor
    size: 1280x720
    applications: [libreoffice]
    files: {notes.txt: "Begin here."}
    environment: {EDITOR: nano}
    limits: {processes: 500, memory_mib: 2048, tmp_mib: 256}

Every key may be left out. The files are written into the working directory, then the applications
are launched in their order.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from deskhand.tools.conversation.chat_start import LONGEST_CONTENT, relative_path
from deskhand.tools.conversation.errors import BadChatRequest

from .errors import BadTemplate

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
KEYS = (*("display_name", "description", "size", "applications", "files", "environment", "limits"),)
LIMITS = {
    "processes": "--desktop-processes",
    "memory_mib": "--desktop-memory",
    "tmp_mib": "--desktop-tmp",
}
"""Keys of limits, and the options of a desktop for them."""
LARGEST_TEMPLATE = 256 * 1024
"""Bytes of a file."""
MOST_ENTRIES = 50
LARGEST_LIMIT = 1_000_000
SMALLEST_SIDE, LARGEST_SIDE = 100, 8192
_SIZE = re.compile(r"([0-9]{2,4})x([0-9]{2,4})")
_VARIABLE = re.compile(r"(?!LD_|PYTHON|(PATH|HOME|USER|DISPLAY|XAUTHORITY)$)[A-Z_][A-Z0-9_]{0,63}")


@dataclass(frozen=True)
class DesktopTemplate:
    """A recipe of a desktop."""

    name: str
    display_name: str = ""
    description: str = ""
    size: str = ""
    applications: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    """Contents by paths relative to the working directory."""
    environment: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)

    @property
    def options(self) -> tuple[str, ...]:
        """Options of the desktop service."""
        return (
            *(("--size", self.size) if self.size else ()),
            *(text for key, value in self.limits.items() for text in (LIMITS[key], str(value))),
            *(
                text
                for name, value in self.environment.items()
                for text in ("--env", f"{name}={value}")
            ),
        )


def read_template(name: str, content: str) -> DesktopTemplate:
    """Return the template of a file.

    Raises:
        BadTemplate: If anything about it is not as it must be.
    """
    reader = _Reader(name)
    try:
        data = yaml.safe_load(content)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise reader.bad(f"{line}is not YAML: {error.problem}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise reader.bad(f"is not YAML: {error}") from error
    if data is None:
        data = {}
    fields = reader.known("the template", data, KEYS)
    return DesktopTemplate(
        name,
        reader.text("display_name", fields.get("display_name"), 100),
        reader.text("description", fields.get("description"), 1_000),
        reader.size(fields.get("size")),
        reader.applications(fields.get("applications")),
        reader.files(fields.get("files")),
        reader.environment(fields.get("environment")),
        reader.limits(fields.get("limits")),
    )


class _Reader:
    def __init__(self, name: str) -> None:
        self._name = name

    def bad(self, problem: str) -> BadTemplate:
        return BadTemplate(f"{self._name}.yaml: {problem}")

    def known(self, what: str, value: Any, keys: Sequence[str]) -> Mapping[str, Any]:
        for key in self.mapping(what, value):
            if key not in keys:
                near = difflib.get_close_matches(str(key), keys, 1)
                hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(keys)}"
                raise self.bad(f"unknown key {key!r} in {what}; {hint}")
        return self.mapping(what, value)

    def mapping(self, what: str, value: Any) -> Mapping[str, Any]:
        if value is None:
            return {}
        if not isinstance(value, dict) or len(value) > MOST_ENTRIES:
            raise self.bad(f"{what} must be a mapping of at most {MOST_ENTRIES} keys")
        return value

    def text(self, what: str, value: Any, longest: int) -> str:
        if value is None:
            return ""
        if not isinstance(value, str) or "\0" in value:
            raise self.bad(f"{what} must be a text; quote it")
        if len(value) > longest:
            raise self.bad(f"{what} has more than {longest} characters")
        return value.strip()

    def size(self, value: Any) -> str:
        text = self.text("size", value, 20)
        match = _SIZE.fullmatch(text)
        sides = (int(match[1]), int(match[2])) if match else ()
        if text and not all(SMALLEST_SIDE <= side <= LARGEST_SIDE for side in sides or (0,)):
            raise self.bad(
                f"size must be as 1280x720, with sides of {SMALLEST_SIDE} to {LARGEST_SIDE} pixels"
            )
        return text

    def applications(self, value: Any) -> tuple[str, ...]:
        if value is None:
            return ()
        if not isinstance(value, list) or len(value) > MOST_ENTRIES:
            raise self.bad(f"applications must be a list of at most {MOST_ENTRIES} names")
        return tuple(self.text(f"applications[{n}]", one, 200) for n, one in enumerate(value))

    def files(self, value: Any) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for path, content in self.mapping("files", value).items():
            try:
                whole = relative_path("files", str(path))
            except BadChatRequest as error:
                raise self.bad(str(error)) from error
            if not whole or not isinstance(content, str) or len(content) > LONGEST_CONTENT:
                raise self.bad(f"files: the content of {path!r} must be a text")
            found[whole] = content
        return found

    def environment(self, value: Any) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for name, one in self.mapping("environment", value).items():
            if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
                raise self.bad(f"environment: {name!r} is no variable that may be set")
            found[name] = self.text(f"environment: {name}", one, 1_000)
        return found

    def limits(self, value: Any) -> Mapping[str, int]:
        found = self.known("limits", value, tuple(LIMITS))
        for key, one in found.items():
            if isinstance(one, bool) or not isinstance(one, int) or not 0 < one <= LARGEST_LIMIT:
                raise self.bad(f"limits: {key} must be a whole number up to {LARGEST_LIMIT}")
        return found
