"""A desktop that answers with prepared replies, and tools of one caller."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.desktop.mcp.errors import McpError, UnknownMcpTool
from deskhand.desktop.mcp.tool import McpQuestion, McpResult, McpTool
from deskhand.desktop.mcp.tool_table import DESKTOP_TOOLS

Json = dict[str, Any]


def given(tool: str, arguments: Json) -> Json:
    """Return the arguments of a call as the table reads them."""
    row = next(one for one in DESKTOP_TOOLS if one.name == tool)
    return row.arguments.read(arguments)


STATUS: Json = {"size": {"width": 1920, "height": 1080}}


class FakeDesktop:
    """Implements ``DesktopRequests``: the last reply of a route is repeated."""

    def __init__(self, replies: Mapping[str, Any] | None = None) -> None:
        self.replies: dict[str, list[Any]] = {"GET /api/v0/desktop": [STATUS]}
        for route, reply in (replies or {}).items():
            self.replies[route] = reply if isinstance(reply, list) else [reply]
        self.requests: list[tuple[str, Any]] = []

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> Any:
        route = f"{method} {path}"
        sent = next((one for one in (json, content, params) if one is not None), None)
        self.requests.append((route, sent if json is None or not params else (params, json)))
        replies = self.replies[route]
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if isinstance(reply, Exception):
            raise reply
        return reply

    def sent(self, route: str) -> list[Any]:
        """What was sent to a route."""
        return [sent for one, sent in self.requests if one == route]


class FakeCalls:
    """Implements ``ToolCalls``: `recording` asks a person, `execute` waits until it is woken."""

    def __init__(self) -> None:
        self.instructions = "Begin with computer_look."
        self.calls: list[tuple[str, Json]] = []
        self.answers: list[tuple[str, str]] = []
        self.result = McpResult("done", {"ok": True})
        self.begun: asyncio.Queue[str] = asyncio.Queue()
        self.woken = asyncio.Event()
        self.cancelled = asyncio.Event()

    def tools(self) -> Sequence[McpTool]:
        return DESKTOP_TOOLS

    async def call(self, name: str, arguments: Json) -> McpResult:
        self.calls.append((name, arguments))
        if name not in {tool.name for tool in DESKTOP_TOOLS}:
            raise UnknownMcpTool(name)
        if name == "recording" and not self.answers:
            return McpResult("asks", {}, question=McpQuestion("c1", "Who are you?"))
        if name == "execute":
            await self._wait()
        return self.result

    async def _wait(self) -> None:
        self.begun.put_nowait("execute")
        try:
            await self.woken.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise

    async def answer(self, chat_id: str, text: str, question: str = "") -> None:
        if text == "refuse":
            raise McpError("there is no question any more")
        self.answers.append((chat_id, text))

    async def resources(self) -> Sequence[Json]:
        return [{"uri": "deskhand://desktop/screenshot", "name": "screenshot"}]

    async def read(self, uri: str) -> Json:
        if "screenshot" not in uri:
            raise McpError("there is no such resource")
        return {"mimeType": "text/plain", "text": "steps"}
