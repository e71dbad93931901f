"""The browser toolset: pages of the desktop's visible browser, read and used by element.

For models of Anthropic it is their own toolset, ``browser_toolset_20260801``. Other models get the
same members as one function with an ``action``: 31 functions with their schemas would take about
four times as many tokens of each request. In our conversation each call is one of the toolset
``browser``, named by its member. The desktop performs it (`deskhand.desktop.pages`).

While a person is in control the tool waits. Then what reads is read; what acts is not done, as the
page may be another one than the model has seen.
"""

import base64
from collections.abc import Callable
from typing import Protocol

from deskhand.desktop.errors import BadField
from deskhand.desktop.pages.errors import BrowserCallFailed
from deskhand.desktop.pages.members import ACTION, MEMBERS, BrowserCall, member_call
from deskhand.desktop.pages.schema import SCHEMA
from deskhand.tools.conversation.conversation import Image
from deskhand.tools.kit.support.arguments import INTENT, unusable
from deskhand.tools.kit.support.spec import (
    HUMAN_IN_CONTROL,
    Json,
    MachineRefused,
    MachineUnavailable,
    ToolContext,
    ToolOutcome,
    ToolSpec,
)

BROWSER = "browser"
PATH = "/api/v0/desktop/browser"
PATIENCE = 90.0
"""Timeout in seconds beyond the duration of a wait. A browser may have to start first."""

_SPEC = ToolSpec(
    BROWSER,
    "Read and use pages of the browser on your screen by element instead of by picture: navigate, "
    "then find or read_page for refs as [ref_7], then act on a target with its ref. It is the "
    "better fit inside web pages; for all else use the computer tool. Refs go stale when the page "
    "navigates. Points are pixels of the picture that the action screenshot gives, which shows the "
    "page without the window around it.",
    SCHEMA,
)


class PagePictures(Protocol):
    """Storage of the pictures of one chat."""

    async def save(self, data: bytes, media_type: str, width: int, height: int) -> Image:
        """Store a picture."""


class BrowserTool:
    """Sends calls to the desktop, and stores the pictures of pages."""

    def __init__(self, pictures: Callable[[str], PagePictures]) -> None:
        """``pictures`` returns the storage of a chat, by its id."""
        self._pictures = pictures

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return _SPEC

    def read(self, arguments: Json) -> BrowserCall:
        """Return the call that the desktop will perform; raises ``BadField``."""
        try:
            return member_call({one: arguments[one] for one in arguments if one != INTENT})
        except BrowserCallFailed as error:
            raise unusable("", error.message) from error

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        """Perform a call; cancelling ends it on the desktop too."""
        body = {name: value for name, value in arguments.items() if name != INTENT}
        try:
            self.read(body)
        except BadField as error:
            return ToolOutcome(error=error.sentence)
        try:
            found = await self._answer(body, context)
        except (MachineRefused, MachineUnavailable) as error:
            return ToolOutcome.of_error(error)
        if isinstance(found, ToolOutcome):
            return found
        if not isinstance(found, dict):
            return ToolOutcome(error="the machine's answer is not JSON")
        kept = ("text", "browser_state", "told_text", "told_value")
        value = {name: found[name] for name in kept if name in found}
        if "screenshot_data" not in found:
            return ToolOutcome(value)
        picture = await self._pictures(context.chat_id).save(
            base64.b64decode(found["screenshot_data"]),
            found["screenshot_media_type"],
            found["screenshot_width"],
            found["screenshot_height"],
        )
        return ToolOutcome(value, pictures=(picture,))

    @staticmethod
    async def _answer(body: Json, context: ToolContext) -> object:
        duration = body.get("duration")
        timeout = PATIENCE + (duration if isinstance(duration, int | float) else 0)
        while True:
            try:
                return await context.machine.request("POST", PATH, json=body, timeout=timeout)
            except MachineRefused as error:
                # Only a conversation waits for the end of a person's control.
                report = await _ended(error, context)
                if not report:
                    raise
                row = MEMBERS.get(str(body.get(ACTION)))
                if row is None or row.kind != "read":
                    text = f"Not done: {report} The page may have changed: read it again first."
                    return ToolOutcome(error=text)


async def _ended(error: MachineRefused, context: ToolContext) -> str:
    """Wait for the end of a person's control; return the report on it, if that was the reason."""
    return await context.after_person() if error.code == HUMAN_IN_CONTROL else ""
