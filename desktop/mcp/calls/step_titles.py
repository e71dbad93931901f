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
    """Return the title of a call's step, from its arguments as read; None if it makes none."""
    if name == "edit_files":
        paths = [one["path"] for one in arguments["edits"]]
        return f"edit_files: {', '.join(dict.fromkeys(paths))}"[:LONGEST]
    if name not in _NAMED:
        return None
    return f"{name}: {arguments[_NAMED[name]]}"[:LONGEST]
