"""Requests of the file core, parsed from query strings and JSON bodies."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskhand.desktop.errors import BadField
from deskhand.desktop.fields import UNREADABLE, Field, Fields, any_text, at_home, each, flag, nested
from deskhand.desktop.files.editing.edits import Edit

from .errors import FileError
from .lines import Bounds

MOST_FILES = 1_000


class BadFileRequest(FileError):
    """The request is malformed."""

    status = 400

    def __init__(self, message: str, detail: str = "", fields: Mapping[str, str] | None = None):
        super().__init__(message)
        self.detail = detail
        self.fields = dict(fields or {})
        """Problem of each field, by name."""


@dataclass(frozen=True)
class LinesQuery:
    """Range of lines of a file."""

    path: str
    offset: int
    """First line, counted from 1."""
    limit: int
    """Number of lines; 0 for as many as fit."""
    ranged: bool
    """True if the request contains a range."""
    partial: bool
    """True to return the lines that fit instead of an error."""
    max_file_size: int
    bounds: Bounds


@dataclass(frozen=True)
class FileEdits:
    """The edits of one file, as the caller names it."""

    path: str
    edits: tuple[Edit, ...]
    label: str


@dataclass(frozen=True)
class EditRequest:
    """Edits that are applied all or not at all."""

    files: tuple[FileEdits, ...]
    include_diff: bool


class Query:
    """Parses query parameters and collects their problems."""

    def __init__(self, given: Mapping[str, str], known: Collection[str]) -> None:
        self._given = given
        self._wrong = {name: "unknown query parameter" for name in given if name not in known}

    def text(self, name: str) -> str:
        """Return a required parameter."""
        value = self._given.get(name, "")
        if not value:
            self._wrong[name] = "is required and must not be empty"
        return value

    def path(self, name: str, home: Path) -> str:
        """Return a required path, with ``home`` in place of ``~``."""
        return at_home(self.text(name), home)

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return the value of a boolean parameter."""
        value = self._given.get(name, "")
        if value not in ("true", "false", ""):
            self._wrong[name] = "must be true or false"
        return value == "true" or (default and not value)

    def number(self, name: str, default: int) -> int:
        """Return a non-negative integer."""
        value = self._given.get(name, "")
        if not value:
            return default
        digits = value.removeprefix("-")
        # `isdigit` also accepts superscripts and other digits that `int` rejects. 18 digits fit a
        # signed 64-bit file offset; keep in step with `_COUNT` in `schema`.
        if not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
            self._wrong[name] = "must be a whole number"
        elif value.startswith("-"):
            self._wrong[name] = "must not be negative"
        else:
            return int(value)
        return default

    def check(self) -> None:
        """Raise BadFileRequest if any parameter has a problem."""
        if self._wrong:
            detail = "; ".join(f"{name}: {what}" for name, what in self._wrong.items())
            raise BadFileRequest("Query parameters are invalid.", detail, self._wrong)


def lines_query(given: Mapping[str, str]) -> LinesQuery:
    """Parse the query of a request for lines."""
    usual = Bounds()
    query = Query(
        given,
        (
            *("path", "offset", "limit", "partial", "max_file_size"),
            *("max_line_bytes", "max_response_lines", "max_response_bytes"),
        ),
    )
    asked = LinesQuery(
        path=query.text("path"),
        offset=max(query.number("offset", 1), 1),
        limit=query.number("limit", 0),
        ranged=bool(query.number("offset", 0) or query.number("limit", 0)),
        partial=query.flag("partial"),
        # The defaults, here and in `Bounds`, are repeated in `schema.READ_LINES`.
        max_file_size=query.number("max_file_size", 0) or 1_048_576,
        bounds=Bounds(
            query.number("max_line_bytes", 0) or usual.line_bytes,
            query.number("max_response_lines", 0) or usual.lines,
            query.number("max_response_bytes", 0) or usual.content_bytes,
        ),
    )
    query.check()
    return asked


_EDIT = Fields(
    {
        "old_text": Field({"type": "string"}, any_text),
        "new_text": Field({"type": "string"}, any_text),
        "replace_all": Field({"type": "boolean", "default": False}, flag, False),
    },
    ("old_text", "new_text"),
    former={"search": "old_text", "replace": "new_text"},
)
_FILE = Fields(
    {
        "path": Field({"type": "string"}, any_text, ""),
        "edits": Field({"type": "array"}, each(nested(_EDIT)), ()),
    }
)
_EDITS = Fields(
    {
        "files": Field({"type": "array"}, each(nested(_FILE)), ()),
        "include_diff": Field({"type": "boolean", "default": False}, flag, False),
    }
)
_DIRECTORY = Fields(
    {
        "path": Field({"type": "array"}, each(any_text), ()),
        "relativity": Field({"enum": ["home", "root"]}, any_text, "home"),
    }
)


def edit_request(data: bytes) -> EditRequest:
    """Parse the body of an edit. Paths are validated later, with the edits."""
    body = read_body(_EDITS, object_of(data))
    files = body["files"]
    if not files:
        raise BadFileRequest("Specify at least one file.")
    if len(files) > MOST_FILES:
        raise BadFileRequest(f"At most {MOST_FILES} files can be edited at once.")
    return EditRequest(
        tuple(_file_edits(item, f"files[{number}]") for number, item in enumerate(files)),
        body["include_diff"],
    )


def read_body(fields: Fields, body: Mapping[str, Any], failed: str = "") -> dict[str, Any]:
    """Return the fields of a body; raises BadFileRequest, with the message ``failed`` if given."""
    try:
        return fields.read(body)
    except BadField as error:
        problem = {error.field: error.sentence}
        unreadable = "Request body must be valid JSON." if error.message == UNREADABLE else ""
        message = failed or unreadable
        if message:
            raise BadFileRequest(message, error.sentence, problem) from error
        raise BadFileRequest(error.message, error.detail, problem) from error


def object_of(data: bytes) -> dict[str, Any]:
    """Return the JSON object in ``data``, an empty one for nothing."""
    try:
        body = json.loads(data or b"{}")
        # JSON permits escaped lone surrogates, which cannot be encoded in UTF-8 later.
        json.dumps(body, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise BadFileRequest("Request body must be valid JSON.", str(error)) from error
    if not isinstance(body, dict):
        raise BadFileRequest("Request body must be valid JSON.", "It has to be an object.")
    return body


def directory_parts(body: Mapping[str, Any]) -> tuple[list[str], str]:
    """Return the parts of a path and its base: ``home`` or ``root``."""
    given = read_body(_DIRECTORY, body)
    relativity = given["relativity"] or "home"
    if relativity not in ("home", "root"):
        raise BadFileRequest(f"Unknown relativity {relativity!r}: it is either home or root.")
    return [part.lstrip("/") for part in given["path"]], relativity


def _file_edits(item: Mapping[str, Any], label: str) -> FileEdits:
    edits = tuple(
        Edit(one["old_text"], one["new_text"], one["replace_all"], f"{label}.edits[{number}]")
        for number, one in enumerate(item["edits"])
    )
    return FileEdits(item["path"], edits, label)
