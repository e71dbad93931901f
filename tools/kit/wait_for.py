"""The tool that waits for an event on the desktop instead of taking screenshots again and again.

The desktop service waits (`desktop/waiting`). The result says what was met, or after the timeout
what was there instead, with a screenshot of that moment. While a person is in control in private
the tool waits for the end of that, and then begins the wait again.
"""

import base64
from collections.abc import Callable
from typing import Any, Protocol

from deskhand.desktop.fields import Field, Fields, any_text, anything, count, outside
from deskhand.tools.conversation.conversation import Image
from deskhand.tools.kit.support.arguments import CheckedTool, unusable
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


def _patience(name: str, value: Any) -> int:
    seconds = count(name, value)
    if seconds > LONGEST_SECONDS:
        raise outside(name, f"is at most {LONGEST_SECONDS}")
    return seconds


# The desktop checks the values of the conditions.
_SPEC = ToolSpec.of(
    "wait_for",
    "Wait until something happens on your screen, and see it then: use it instead of wait or "
    "repeated screenshots for a download, a page, a dialog, a command. All conditions that you "
    "give must hold at one moment. After the timeout you get what was there instead.",
    Fields(
        {
            "text": Field(
                {
                    "type": "string",
                    "description": "Part of a text that a window shows, in any case. Not in "
                    "terminals and pictures.",
                },
                any_text,
            ),
            "window": Field(
                {"type": "string", "description": "Part of the title of a window."}, any_text
            ),
            "changed_region": Field(
                {
                    "type": "array",
                    "items": {"type": "integer"},
                    "description": "[x1, y1, x2, y2] in pixels of a screenshot: it shows something "
                    "else than now.",
                },
                anything,
            ),
            "quiet_ms": Field(
                {"type": "integer", "description": "For so many milliseconds nothing moves."},
                anything,
            ),
            "process": Field(
                {"type": "string", "description": "Id of a process of execute that ends."}, any_text
            ),
            "url": Field({"type": "string", "description": "Part of the URL of a page."}, any_text),
            "timeout_seconds": Field(
                {
                    "type": "integer",
                    "description": f"Default {USUAL_SECONDS}, most {LONGEST_SECONDS}.",
                },
                _patience,
                0,
            ),
        }
    ),
)


class ScreenshotStore(Protocol):
    """Storage of the screenshots of one chat."""

    async def save(self, data: bytes, media_type: str, width: int, height: int) -> Image:
        """Store a screenshot."""


class WaitForTool(CheckedTool):
    """Waits for conditions and returns the screenshot of the moment at which they hold."""

    def __init__(self, pictures: Callable[[str], ScreenshotStore]) -> None:
        """``pictures`` returns the storage of a chat, by its id."""
        self._pictures = pictures

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return _SPEC

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Wait; cancelling ends the wait on the desktop too."""
        body = _body(given)
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


def _body(given: Json) -> Json:
    wanted = {name: given[name] for name in _CONDITIONS if given[name] is not None}
    if not wanted:
        raise unusable("", f"give one of: {', '.join(_CONDITIONS)}")
    return {**wanted, "timeout_seconds": given["timeout_seconds"] or USUAL_SECONDS}
