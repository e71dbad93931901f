"""The newest step of a chat at work, short enough for lists of chats. Pure."""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

LONGEST = 200
"""Characters of a text; longer ones are cut."""
MOST_AXES = 4
"""Numbers of a list, such as a point; longer lists are left out."""


def last_step(tool: str, action: str | None, title: str, arguments: Mapping[str, Any]) -> Json:
    """Return the step with those of its arguments that a line of text can name."""
    short = {name: _short(value) for name, value in arguments.items()}
    kept = {name: value for name, value in short.items() if value is not None}
    return {"tool": tool, "action": action, "title": title, "arguments": kept}


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value[:LONGEST]
    if isinstance(value, list):
        numbers = all(isinstance(one, int | float) for one in value)
        return value if numbers and len(value) <= MOST_AXES else None
    return value if isinstance(value, int | float) else None
