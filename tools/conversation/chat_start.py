"""What a chat starts with: its working directory, files in it, and the template. Pure."""

import math
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deskhand.desktop.profiles.profile_name import PROFILE_NAME

from .errors import BadChatRequest

Json = dict[str, Any]

FIELDS = ("workdir", "files", "template", "profile", "timeout_seconds", "record")
"""Names in requests and in arguments of tools."""

MOST_FILES = 20
LONGEST_CONTENT = 1_000_000
"""Characters of a file whose content is given."""
LARGEST_FILE = 16 * 1024 * 1024
"""Bytes of a stored file."""
LONGEST_PATH = 1_024
LONGEST_NAME = 100
LONGEST_TIMEOUT = 7 * 24 * 3600
"""Seconds."""


@dataclass(frozen=True)
class StartFile:
    """A file that is in the working directory before the first step."""

    path: str
    """Relative; empty for the name of the stored file."""
    content: str | None = None
    file_id: str | None = None
    """Of a stored file; exactly one of the two is given."""

    def to_json(self) -> Json:
        """Return the form in the database."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class ChatStart:
    """The arguments of a start; empty ones have their defaults."""

    workdir: str = ""
    """Directory below the working directory of the root chat."""
    files: tuple[StartFile, ...] = field(default_factory=tuple)
    template: str | None = None
    """Name of the template of its desktop."""
    profile: str | None = None
    """Name of the profile of its desktop's browser."""
    timeout_seconds: float | None = None
    """Seconds after which each of its turns is stopped, waiting included; None for no limit."""
    record: bool = True
    """False if its desktop is not recorded while it works."""


def read_start(given: Mapping[str, Any]) -> ChatStart:
    """Return what a request or the arguments of a tool name.

    Raises:
        BadChatRequest: If a value is wrong.
    """
    return ChatStart(
        relative_path("workdir", _text(given, "workdir", LONGEST_PATH) or ""),
        _files(given.get("files")),
        _text(given, "template", LONGEST_NAME),
        profile_name(_text(given, "profile", LONGEST_NAME)),
        _timeout(given.get("timeout_seconds")),
        _record(given.get("record")),
    )


def profile_name(name: str | None) -> str | None:
    """Return the name of a profile.

    Raises:
        BadChatRequest: If it cannot be one.
    """
    if name is not None and not PROFILE_NAME.fullmatch(name):
        raise BadChatRequest(
            f"profile: {name!r} must be of lower-case letters, digits, - and _, and at most 63"
        )
    return name


def relative_path(name: str, path: str) -> str:
    """Return a path that lies below the working directory, normalized; empty for the directory.

    Raises:
        BadChatRequest: If it does not; the text begins with ``name``.
    """
    whole = posixpath.normpath(path) if path else "."
    if "\0" in path or whole.startswith(("/", "~")) or ".." in path.split("/"):
        raise BadChatRequest(
            f"{name}: {path[:100]!r} must be a relative path, below the working directory"
        )
    return "" if whole == "." else whole


def _text(given: Mapping[str, Any], name: str, longest: int) -> str | None:
    value = given.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > longest:
        raise BadChatRequest(f"{name} must be a text of at most {longest} characters")
    return value.strip() or None


def _timeout(given: Any) -> float | None:
    if given is None:
        return None
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not math.isfinite(given) or not 1 <= given <= LONGEST_TIMEOUT:
        raise BadChatRequest(f"timeout_seconds must be a number from 1 to {LONGEST_TIMEOUT}")
    return float(given)


def _record(given: Any) -> bool:
    if given is None or isinstance(given, bool):
        return given is not False
    raise BadChatRequest("record must be true or false")


def _files(given: Any) -> tuple[StartFile, ...]:
    entries = [] if given is None else given
    if not isinstance(entries, list) or len(entries) > MOST_FILES:
        raise BadChatRequest(f"files must be a list of at most {MOST_FILES} files")
    found = tuple(_file(f"files[{number}]", entry) for number, entry in enumerate(entries))
    paths = [file.path for file in found if file.path]
    if len(set(paths)) < len(paths):
        raise BadChatRequest("files: two of them have the same path")
    return found


def _file(name: str, entry: Any) -> StartFile:
    match entry:
        case str(file_id) if file_id.strip():
            return StartFile("", file_id=file_id.strip())
        case {"path": str(path), "content": str(content)} if len(entry) == 2:
            if len(content) > LONGEST_CONTENT:
                raise BadChatRequest(f"{name} has more than {LONGEST_CONTENT} characters")
            return StartFile(_path(name, path), content=content)
        case {"path": str(path), "file_id": str(file_id)} if len(entry) == 2:
            return StartFile(_path(name, path), file_id=file_id.strip())
    raise BadChatRequest(
        f"{name} must be the id of a stored file, or an object with path and content or file_id"
    )


def _path(name: str, path: str) -> str:
    found = relative_path(name, path)
    if not found or path.endswith("/") or len(path) > LONGEST_PATH:
        raise BadChatRequest(f"{name}: its path must name a file")
    return found
