"""The tool that replaces texts in files."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.errors import BadField
from deskhand.desktop.fields import (
    Field,
    Fields,
    any_text,
    each,
    nested,
    spoken_flag,
    word,
    written,
)
from deskhand.tools.kit.support.arguments import CheckedTool, unusable
from deskhand.tools.kit.support.process_result import Unreachable
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec
from deskhand.tools.kit.support.workdir_path import absolute_path

NOTHING = "No edits were applied."
NO_ARRAY = "edits must be a JSON array of objects with path, old_text and new_text"
NO_FILES = (
    "The files form is gone: give edits, a flat list in which each entry has path, old_text and "
    "new_text"
)
_EDIT = Fields(
    {
        "path": Field(
            {"type": "string", "description": "Absolute, or from the working directory."}, word
        ),
        "old_text": Field({"type": "string", "description": "What to replace."}, any_text),
        "new_text": Field(
            {"type": "string", "description": "What to put there; empty to delete."}, any_text
        ),
        "replace_all": Field(
            {"type": "boolean", "description": "Replace every occurrence. Default false."},
            spoken_flag,
            False,
        ),
    },
    ("path", "old_text", "new_text"),
    # Names of an earlier version, which models may still use.
    former={"search": "old_text", "replace": "new_text"},
)


def _edits(name: str, value: Any) -> tuple[Json, ...]:
    if value in ([], {}):
        raise unusable(name, "edits is required: give at least one edit")
    if not isinstance(value, list):
        raise unusable(name, NO_ARRAY)
    numbered = [(f"{name}[{number}]", edit) for number, edit in enumerate(value)]
    names = {*_EDIT.of, *_EDIT.former}
    # A misspelt name is reported below, with the nearest.
    nowhere = [
        at
        for at, edit in numbered
        if isinstance(edit, dict) and not _path(edit) and names.issuperset(edit)
    ]
    if nowhere:
        raise unusable(name, f"path is required: it is missing in {', '.join(nowhere)}")
    return each(nested(_EDIT))(name, value)


def _path(edit: Json) -> str:
    path = edit.get("path")
    return path.strip() if isinstance(path, str) else ""


_SPEC = ToolSpec.of(
    "edit_files",
    "Replace texts in one or more files on this chat's machine: all edits are made or none. "
    "old_text must stand in the file exactly once, as read_file shows it without the line "
    "numbers; add surrounding lines to make it unique, or set replace_all. Edits of one file "
    "apply one after the other. The result shows the diffs.",
    Fields({"edits": Field({"type": "array", "items": _EDIT.schema}, written(_edits))}, ("edits",)),
)


@dataclass(frozen=True)
class _Grouped:
    files: list[Json]
    labels: dict[str, str]
    """The model's name for an edit (``edits[3]``) by the machine's (``files[0].edits[1]``)."""


class EditFilesTool(CheckedTool):
    """Groups a flat list of edits by file and sends them in one request."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return _SPEC

    def read(self, arguments: Json) -> Json:
        """Return the edits; raises ``BadField``."""
        try:
            if isinstance(arguments, dict) and "edits" not in arguments and "files" in arguments:
                raise unusable("edits", NO_FILES)
            return super().read(arguments)
        except BadField as error:
            end = "" if error.sentence.endswith("?") else "."
            raise unusable(error.field, f"{error.sentence}{end} {NOTHING}") from error

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Apply the edits, all or none."""
        edits = given["edits"]
        try:
            # Before they are grouped: one file may have a relative and an absolute path.
            paths = [await absolute_path(edit["path"], context) for edit in edits]
        except Unreachable as error:
            return ToolOutcome(error=f"{error} {NOTHING}")
        grouped = _grouped([edit | {"path": path} for edit, path in zip(edits, paths, strict=True)])
        body = {"files": grouped.files, "include_diff": True}
        try:
            response = await context.machine.request("POST", "/api/v0/edit-files", json=body)
        # The machine names edits by file and index; the model knows only its own flat list.
        except Unreachable as error:
            return ToolOutcome.of_error(error, f"{_renamed(str(error), grouped.labels)} {NOTHING}")
        files = response.get("files") if isinstance(response, dict) else None
        return ToolOutcome({"ok": True} | ({"files": files} if files is not None else {}))


def _grouped(edits: Sequence[Json]) -> _Grouped:
    files: dict[str, list[Json]] = {}
    places: dict[str, tuple[str, int]] = {}
    # The service receives the edits grouped by file, and names an edit by file and index in its
    # error messages. ``labels`` translates these to the positions in the model's flat list.
    for number, edit in enumerate(edits):
        entries = files.setdefault(edit["path"], [])
        places[f"edits[{number}]"] = (edit["path"], len(entries))
        entries.append({name: value for name, value in edit.items() if name != "path"})
    order = list(files)
    labels = {
        f"files[{order.index(path)}].edits[{index}]": label
        for label, (path, index) in places.items()
    }
    return _Grouped([{"path": path, "edits": files[path]} for path in order], labels)


def _renamed(message: str, labels: dict[str, str]) -> str:
    return re.sub(
        r"files\[\d+\]\.edits\[\d+\]", lambda found: labels.get(found[0], found[0]), message
    )
