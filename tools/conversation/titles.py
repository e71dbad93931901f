"""Short names for chats and steps."""

from collections.abc import Mapping
from typing import Any

LONGEST = 80
NEW = "New Chat"
WORDS = 6
# Arguments that identify a call to a reader, in order of preference.
_IDENTIFYING = (
    "title",
    "action",
    "command",
    "path",
    "prompt",
    "message",
    "reason",
    "text",
    "url",
    "query",
    "chat_id",
    "process_id",
    "name",
)


def chat_title(title: str | None, prompt: str | None) -> str:
    """Return the requested title, or else the first words of the prompt."""
    wanted = (title or "").strip()
    if not wanted:
        words = (prompt or "").split()
        wanted = " ".join(words[:WORDS]) + ("..." if len(words) > WORDS else "")
    # A chat may begin without a prompt, and a list entry needs a text to click on.
    return wanted[:LONGEST] or NEW


def withheld(action: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of an action without the text that it enters.

    They are published until the action reports whether the text went into a password field.
    """
    # Only these enter text: in other actions, ``text`` names keys.
    name = {"type": "text", "form_input": "value"}.get(action, "")
    text = arguments.get(name)
    if not isinstance(text, str):
        return dict(arguments)
    characters = "1 character" if len(text) == 1 else f"{len(text)} characters"
    return {**arguments, name: characters}


def step_title(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return the title of a step, one line."""
    for name in _IDENTIFYING:
        value = arguments.get(name)
        # Titles are shown in lists, so line breaks and runs of blanks become one blank.
        if isinstance(value, str) and value.strip():
            return _shortened(f"{tool}: {' '.join(value.split())}")
    point = arguments.get("coordinate")
    if isinstance(point, list):
        return _shortened(f"{tool}: {', '.join(str(axis) for axis in point)}")
    return _shortened(tool)


def _shortened(title: str) -> str:
    return title if len(title) <= LONGEST else f"{title[: LONGEST - 1]}…"
