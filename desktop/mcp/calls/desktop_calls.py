"""The tools of one desktop for one caller."""

import base64
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from deskhand.desktop.errors import BadField, DesktopRefused, DesktopUnavailable
from deskhand.desktop.mcp.advice import instructions
from deskhand.desktop.mcp.errors import McpError, UnknownMcpTool
from deskhand.desktop.mcp.ports import DesktopRequests
from deskhand.desktop.mcp.selection import ToolSelection
from deskhand.desktop.mcp.tool import Json, McpResult, McpTool
from deskhand.desktop.mcp.tool_table import DESKTOP_TOOLS

from .computer import ComputerCalls
from .files import FileCalls
from .recordings import SCHEME, RecordingCalls
from .seen_screens import SeenScreens
from .shell import ShellCalls
from .step_titles import step_title
from .texts import refusal_text

SCREENSHOT = f"{SCHEME}desktop/screenshot"
RECORDINGS = f"{SCHEME}recordings/"


class DesktopCalls:
    """Implements ``ToolCalls`` with the routes of one desktop."""

    def __init__(
        self,
        desktop: DesktopRequests,
        seen: SeenScreens,
        key: str,
        selection: ToolSelection,
        link: Callable[[str], str] = str,
        step: Callable[[str, str], AbstractContextManager[None]] | None = None,
    ) -> None:
        """``key`` names the caller; ``link`` turns a path of the API into an address.

        ``step`` adds what happens in its block to the recordings, by name and title.
        """
        self._step = step
        self._desktop = desktop
        self._selection = selection
        computer = ComputerCalls(desktop, seen, key, selection.pictures)
        shell, files = ShellCalls(desktop), FileCalls(desktop)
        self._recordings = RecordingCalls(desktop, key, link)
        self._handlers: dict[str, Callable[[Json], Awaitable[McpResult]]] = {
            "computer_look": computer.look,
            "computer_act": computer.act,
            "computer_find": computer.find,
            "computer_open": computer.open,
            "execute": shell.execute,
            "process_output": shell.process_output,
            "process_list": shell.process_list,
            "process_signal": shell.process_signal,
            "read_file": files.read_file,
            "write_file": files.write_file,
            "edit_files": files.edit_files,
            "search_files": files.search_files,
            "recording": self._recordings.recording,
        }

    @property
    def instructions(self) -> str:
        """Advice for the model."""
        return instructions([tool.group for tool in self.tools()])

    def tools(self) -> Sequence[McpTool]:
        """Return the offered tools."""
        return self._selection.offered(DESKTOP_TOOLS)

    async def call(self, name: str, arguments: Json) -> McpResult:
        """Execute a call; raises ``UnknownMcpTool``."""
        for tool in self.tools():
            if tool.name == name:
                return await guarded(self._called(tool, arguments))
        raise UnknownMcpTool(name)

    async def _called(self, tool: McpTool, arguments: Json) -> McpResult:
        given = tool.arguments.read(arguments)
        handler, title = self._handlers[tool.name], step_title(tool.name, given)
        if self._step is None or title is None:
            return await handler(given)
        # A refused request raises, and so becomes the error of the step.
        with self._step(f"mcp.{tool.name}", title):
            return await handler(given)

    async def answer(self, chat_id: str, text: str, question: str = "") -> None:
        """Refuse: a desktop service has no agents."""
        raise McpError("no agent waits for an answer here")

    async def resources(self) -> Sequence[Json]:
        """Return the screenshot and the recordings."""
        listed: list[Json] = [
            {
                "uri": SCREENSHOT,
                "name": "screenshot",
                "title": "The screen now",
                "mimeType": "image/png",
            }
        ]
        for one in await reading(self._recordings.listed()):
            title = one["label"] or "Recording"
            listed.append(
                {"uri": one["steps"], "name": one["id"], "title": title, "mimeType": "text/plain"}
            )
        return listed

    async def read(self, uri: str) -> Json:
        """Return a screenshot, or the steps of a recording."""
        if uri == SCREENSHOT:
            data = await reading(self._desktop.request("GET", "/api/v0/desktop/screenshot"))
            return {"mimeType": "image/png", "blob": base64.b64encode(data).decode()}
        if uri.startswith(RECORDINGS):
            text = await reading(self._recordings.resource(uri.removeprefix(RECORDINGS)))
            return {"mimeType": "text/plain", "text": text}
        raise McpError(f"there is no resource {uri[:200]}")


async def guarded(call: Awaitable[McpResult]) -> McpResult:
    """Return the result of a call; a failure becomes a result that says what to do."""
    try:
        return await call
    except BadField as error:
        return McpResult(f"Nothing was done: {error.sentence}", is_error=True)
    except McpError as error:
        return McpResult(f"{error}.", is_error=True)
    except DesktopRefused as error:
        content = {"status": error.status, "code": error.code, "error": str(error)}
        return McpResult(refusal_text(error), content, is_error=True)
    except DesktopUnavailable as error:
        text = f"The desktop cannot be reached ({error}). Look before you repeat the call."
        return McpResult(text, is_error=True)


async def reading(request: Awaitable[Any]) -> Any:
    """Return the value of a request for a resource; raises ``McpError`` where it fails."""
    try:
        return await request
    except DesktopRefused as error:
        raise McpError(refusal_text(error)) from error
    except DesktopUnavailable as error:
        raise McpError(f"the desktop cannot be reached: {error}") from error
