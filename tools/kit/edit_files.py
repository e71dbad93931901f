"""The tool that replaces texts in files."""

import json
import re
from dataclasses import dataclass
from typing import Any

from deskhand.tools.kit.support.process_result import Unreachable
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec
from deskhand.tools.kit.support.workdir_path import absolute_path

NOTHING = "No edits were applied."
NO_ARRAY = "edits must be a JSON array of objects with path, old_text and new_text"

_SPEC = ToolSpec(
    "edit_files",
    "Replace texts in one or more files on this chat's machine: all edits are made or none. "
    "old_text must stand in the file exactly once, as read_file shows it without the line "
    "numbers; add surrounding lines to make it unique, or set replace_all. Edits of one file "
    "apply one after the other. The result shows the diffs.",
    {
        "type": "object",
        "properties": {
            "edits": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "path": {
                            "type": "string",
                            "description": "Absolute, or from the working directory.",
                        },
                        "old_text": {"type": "string", "description": "What to replace."},
                        "new_text": {
                            "type": "string",
                            "description": "What to put there; empty to delete.",
                        },
                        "replace_all": {
                            "type": "boolean",
                            "description": "Replace every occurrence. Default false.",
                        },
                    },
                    "required": ["path", "old_text", "new_text"],
                },
            }
        },
        "required": ["edits"],
    },
)


class _Unusable(Exception):
    """The arguments cannot be read as edits; the text is the reason."""


@dataclass(frozen=True)
class _Grouped:
    files: list[Json]
    labels: dict[str, str]
    """The model's name for an edit (``edits[3]``) by the machine's (``files[0].edits[1]``)."""


class EditFilesTool:
    """Groups a flat list of edits by file and sends them in one request."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return _SPEC

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        """Apply the edits, all or none."""
        try:
            # Before they are grouped: one file may have a relative and an absolute path.
            edits = [await _located(edit, context) for edit in _edits(arguments)]
            grouped = _grouped(edits)
        except (_Unusable, *Unreachable) as error:
            return ToolOutcome(error=f"{error} {NOTHING}")
        body = {"files": grouped.files, "include_diff": True}
        try:
            response = await context.machine.request("POST", "/api/v0/edit-files", json=body)
        # The machine names edits by file and index; the model knows only its own flat list.
        except Unreachable as error:
            return ToolOutcome.of_error(error, f"{_renamed(str(error), grouped.labels)} {NOTHING}")
        files = response.get("files") if isinstance(response, dict) else None
        return ToolOutcome({"ok": True} | ({"files": files} if files is not None else {}))


def _edits(arguments: Any) -> list[Any]:
    if not isinstance(arguments, dict):
        raise _Unusable("The input must be an object with edits, not a JSON array or a value.")
    edits = arguments.get("edits")
    # Some models send nested JSON as a text.
    if isinstance(edits, str):
        try:
            edits = json.loads(edits)
        except ValueError as error:
            raise _Unusable(f"{NO_ARRAY}: {error}.") from error
    if not edits and "files" in arguments:
        raise _Unusable(
            "The files form is gone: give edits, a flat list in which each entry has "
            "path, old_text and new_text."
        )
    if not edits:
        raise _Unusable("edits is required: give at least one edit.")
    if not isinstance(edits, list):
        raise _Unusable(f"{NO_ARRAY}.")
    return edits


def _grouped(edits: list[Any]) -> _Grouped:
    for number, edit in enumerate(edits):
        if not isinstance(edit, dict):
            raise _Unusable(f"edits[{number}] must be an object.")
    nowhere = [f"edits[{n}]" for n, edit in enumerate(edits) if not _path(edit)]
    if nowhere:
        raise _Unusable(f"path is required: it is missing in {', '.join(nowhere)}.")
    files: dict[str, list[Json]] = {}
    places: dict[str, tuple[str, int]] = {}
    # The service receives the edits grouped by file, and names an edit by file and index in its
    # error messages. ``labels`` translates these to the positions in the model's flat list.
    for number, edit in enumerate(edits):
        path = _path(edit)
        entries = files.setdefault(path, [])
        places[f"edits[{number}]"] = (path, len(entries))
        old, new = edit.get("old_text"), edit.get("new_text")
        # The names of these fields in an earlier version, which models may still use.
        if old is None and new is None:
            old, new = edit.get("search"), edit.get("replace")
        entries.append(
            {"old_text": old, "new_text": new, "replace_all": edit.get("replace_all") or False}
        )
    order = list(files)
    labels = {
        f"files[{order.index(path)}].edits[{index}]": label
        for label, (path, index) in places.items()
    }
    return _Grouped([{"path": path, "edits": files[path]} for path in order], labels)


async def _located(edit: Any, context: ToolContext) -> Any:
    if not isinstance(edit, dict) or not _path(edit):
        return edit
    return {**edit, "path": await absolute_path(_path(edit), context)}


def _path(edit: Json) -> str:
    path = edit.get("path")
    return path.strip() if isinstance(path, str) else ""


def _renamed(message: str, labels: dict[str, str]) -> str:
    return re.sub(
        r"files\[\d+\]\.edits\[\d+\]", lambda found: labels.get(found[0], found[0]), message
    )
