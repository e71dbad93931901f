"""The tool that waits for an event on the desktop instead of taking screenshots again and again.

The desktop service waits (`desktop/waiting`). The result says what was met, or after the timeout
what was there instead, with a screenshot of that moment. While a person is in control in private
the tool waits for the end of that, and then begins the wait again.
"""

import base64
from collections.abc import Callable
from typing import Protocol

from deskhand.tools.conversation.conversation import Image
from deskhand.tools.kit.support.arguments import BadArguments, check_known, number
from deskhand.tools.kit.support.spec import (
    HUMAN_IN_CONTROL,
    Json,
    MachineRefused,
    MachineUnavailable,
    ToolContext,
    ToolOutcome,
    ToolSpec,
)

LONGEST_SECONDS = 300
USUAL_SECONDS = 30
PATIENCE = 30.0
"""Seconds beyond the wait itself in which the desktop must answer."""
_CONDITIONS = ("text", "window", "changed_region", "quiet_ms", "process", "url")

_SPEC = ToolSpec(
    "wait_for",
    "Wait until something happens on your screen, and see it then: use it instead of wait or "
    "repeated screenshots for a download, a page, a dialog, a command. All conditions that you "
    "give must hold at one moment. After the timeout you get what was there instead.",
    {
        "type": "object",
        "properties": {
            "text": {
                "type": "string",
                "description": "Part of a text that a window shows, in any case. Not in terminals "
                "and pictures.",
            },
            "window": {"type": "string", "description": "Part of the title of a window."},
            "changed_region": {
                "type": "array",
                "items": {"type": "integer"},
                "description": "[x1, y1, x2, y2] in pixels of a screenshot: it shows something "
                "else than now.",
            },
            "quiet_ms": {
                "type": "integer",
                "description": "For so many milliseconds nothing moves.",
            },
            "process": {
                "type": "string",
                "description": "Id of a process of execute that ends.",
            },
            "url": {"type": "string", "description": "Part of the URL of a page."},
            "timeout_seconds": {
                "type": "integer",
                "description": f"Default {USUAL_SECONDS}, most {LONGEST_SECONDS}.",
            },
        },
    },
)


class ScreenshotStore(Protocol):
    """Storage of the screenshots of one chat."""

    async def save(self, data: bytes, media_type: str, width: int, height: int) -> Image:
        """Store a screenshot."""


class WaitForTool:
    """Waits for conditions and returns the screenshot of the moment at which they hold."""

    def __init__(self, pictures: Callable[[str], ScreenshotStore]) -> None:
        """``pictures`` returns the storage of a chat, by its id."""
        self._pictures = pictures

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return _SPEC

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        """Wait; cancelling ends the wait on the desktop too."""
        try:
            body = _body(arguments)
        except BadArguments as error:
            return ToolOutcome(error=str(error))
        try:
            found = await self._awaited(body, context)
        except (MachineRefused, MachineUnavailable) as error:
            return ToolOutcome.of_error(error)
        if not isinstance(found, dict):
            return ToolOutcome(error="the machine's answer is not JSON")
        result = {name: found[name] for name in ("met", "waited_ms", "seen") if name in found}
        if found.get("unmet"):
            result["unmet"] = found["unmet"]
        if "screenshot_data" not in found:
            return ToolOutcome(result)
        picture = await self._pictures(context.chat_id).save(
            base64.b64decode(found["screenshot_data"]),
            found["screenshot_media_type"],
            found["screenshot_width"],
            found["screenshot_height"],
        )
        return ToolOutcome(result, pictures=(picture,))

    @staticmethod
    async def _awaited(body: Json, context: ToolContext) -> object:
        timeout = body["timeout_seconds"] + PATIENCE
        path = "/api/v0/desktop/wait-for"
        while True:
            try:
                return await context.machine.request("POST", path, json=body, timeout=timeout)
            except MachineRefused as error:
                # Only a conversation waits for the end of a person's control.
                if error.code != HUMAN_IN_CONTROL or not await context.after_person():
                    raise


def _body(arguments: Json) -> Json:
    given = {name: arguments[name] for name in _CONDITIONS if arguments.get(name) is not None}
    check_known(arguments, _SPEC.schema)
    if not given:
        raise BadArguments(f"give one of: {', '.join(_CONDITIONS)}")
    seconds = number(arguments, "timeout_seconds") or USUAL_SECONDS
    if seconds > LONGEST_SECONDS:
        raise BadArguments(f"timeout_seconds is at most {LONGEST_SECONDS}")
    return {**given, "timeout_seconds": seconds}
