"""Titles of the steps that calls make beside the actions, which record themselves."""

from deskhand.desktop.mcp.tool import Json

LONGEST = 200
_NAMED = {
    "execute": "command",
    "process_signal": "signal",
    "write_file": "path",
    "computer_open": "target",
}


def step_title(name: str, arguments: Json) -> str | None:
    """Return the title of a call's step; None for a call that makes none of its own."""
    if name == "edit_files":
        edits = arguments.get("edits")
        paths = [str(one.get("path")) for one in _objects(edits)]
        return f"edit_files: {', '.join(dict.fromkeys(paths))}"[:LONGEST]
    if name not in _NAMED:
        return None
    return f"{name}: {arguments.get(_NAMED[name], '')}"[:LONGEST]


def _objects(value: object) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
