"""A template of desktops, and the strict reading of its file. Pure.

    display_name: Office
    description: A desktop with a word processor
    size: 1280x720
    applications: [libreoffice]
    files: {notes.txt: "Begin here."}
    environment: {EDITOR: nano}
    limits: {processes: 500, memory_mib: 2048, tmp_mib: 256}
    profile: shop

Every key may be left out. The files are written into the working directory, then the applications
are launched in their order.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import yaml

from deskhand.tools.conversation.chat_start import LONGEST_CONTENT, profile_name, relative_path
from deskhand.tools.conversation.errors import BadChatRequest
from deskhand.tools.documents.documents import document, fail, line_of
from deskhand.tools.documents.errors import BadDocument
from deskhand.tools.documents.fields import DocumentFields, pairs
from deskhand.tools.documents.values import is_null, value

from .errors import BadTemplate

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
KEYS = (
    *("display_name", "description", "size", "applications", "files", "environment", "limits"),
    "profile",
)
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
    profile: str = ""
    """Name of the profile of the browser."""

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
    try:
        root = document(content)
        return DesktopTemplate(name) if root is None else _template(name, root)
    except BadDocument as error:
        line = "" if error.line is None else f"line {error.line}: "
        raise BadTemplate(f"{name}.yaml: {line}{error.problem}") from error


def _template(name: str, root: yaml.Node) -> DesktopTemplate:
    given = _given(root, "the template", KEYS)
    display_name, description = given.get("display_name"), given.get("description")
    return DesktopTemplate(
        name,
        "" if display_name is None else _text(display_name, "display_name", 100),
        "" if description is None else _text(description, "description", 1_000),
        _size(given.get("size")),
        _applications(given.get("applications")),
        _files(given.get("files")),
        _environment(given.get("environment")),
        _limits(given.get("limits")),
        _profile(given.get("profile")),
    )


def _given(
    node: yaml.Node | None, what: str, known: Sequence[str] | None = None
) -> dict[str, yaml.Node]:
    """Return the values of a mapping; a key without a value counts as left out."""
    if node is None or is_null(node):
        return {}
    if not isinstance(node, yaml.MappingNode) or len(node.value) > MOST_ENTRIES:
        fail(node, f"{what} must be a mapping of at most {MOST_ENTRIES} keys")
    fields = pairs(node, what) if known is None else DocumentFields(node, what, known).nodes
    return {key: one for key, one in fields.items() if not is_null(one)}


def _text(node: yaml.Node, what: str, longest: int) -> str:
    found = value(node)
    if not isinstance(found, str) or "\0" in found:
        fail(node, f"{what} must be a text; quote it")
    if len(found) > longest:
        fail(node, f"{what} has more than {longest} characters")
    return found.strip()


def _size(node: yaml.Node | None) -> str:
    text = "" if node is None else _text(node, "size", 20)
    match = _SIZE.fullmatch(text)
    sides = (int(match[1]), int(match[2])) if match else ()
    if node and text and not all(SMALLEST_SIDE <= side <= LARGEST_SIDE for side in sides or (0,)):
        between = f"{SMALLEST_SIDE} to {LARGEST_SIDE}"
        fail(node, f"size must be as 1280x720, with sides of {between} pixels")
    return text


def _profile(node: yaml.Node | None) -> str:
    if node is None:
        return ""
    try:
        return profile_name(_text(node, "profile", 100) or None) or ""
    except BadChatRequest as error:
        fail(node, str(error))


def _applications(node: yaml.Node | None) -> tuple[str, ...]:
    if node is None:
        return ()
    if not isinstance(node, yaml.SequenceNode) or len(node.value) > MOST_ENTRIES:
        fail(node, f"applications must be a list of at most {MOST_ENTRIES} names")
    return tuple(_text(one, f"applications[{n}]", 200) for n, one in enumerate(node.value))


def _files(node: yaml.Node | None) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for path, one in _given(node, "files").items():
        try:
            whole = relative_path("files", path)
        except BadChatRequest as error:
            raise BadDocument(str(error), line_of(one)) from error
        content = value(one)
        if not whole or not isinstance(content, str) or len(content) > LONGEST_CONTENT:
            fail(one, f"files: the content of {path!r} must be a text")
        found[whole] = content
    return found


def _environment(node: yaml.Node | None) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for name, one in _given(node, "environment").items():
        if not _VARIABLE.fullmatch(name):
            fail(one, f"environment: {name!r} is no variable that may be set")
        found[name] = _text(one, f"environment: {name}", 1_000)
    return found


def _limits(node: yaml.Node | None) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for key, one in _given(node, "limits", tuple(LIMITS)).items():
        limit = value(one)
        if isinstance(limit, bool) or not isinstance(limit, int) or not 0 < limit <= LARGEST_LIMIT:
            fail(one, f"limits: {key} must be a whole number up to {LARGEST_LIMIT}")
        found[key] = limit
    return found
