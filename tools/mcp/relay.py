"""The tools of a control plane, called over HTTP by a process on standard input and output.

The request is that of MCP's stateless era, so that the control plane does all that it does for
clients of its own ``/mcp``. No elicitation is offered there: questions come as results, and the
process here shows them to its host.
"""

import asyncio
import base64
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlencode

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.desktop.mcp.advice import instructions
from deskhand.desktop.mcp.calls.desktop_calls import RECORDINGS, SCREENSHOT, guarded, reading
from deskhand.desktop.mcp.calls.tool_results import question_in
from deskhand.desktop.mcp.errors import McpError, UnknownMcpTool
from deskhand.desktop.mcp.limits import LONGEST_CALL
from deskhand.desktop.mcp.selection import ToolSelection
from deskhand.desktop.mcp.tool import Json, McpImage, McpResult, McpTool

from .plane_tools import PLANE_TOOLS

VERSION = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass(frozen=True)
class ConnectedPlane:
    """A control plane, and the chat of this process there."""

    client: DesktopClient
    chat_id: str


class PlaneSource(Protocol):
    """The control plane of this process."""

    async def __call__(self) -> ConnectedPlane:
        """Return the control plane; seek or start one at first."""

    async def check(self) -> None:
        """Forget the control plane if it has gone, after a request without an answer."""


class RelayedCalls:
    """Implements ``ToolCalls``; nothing is connected before the first call."""

    def __init__(self, plane: PlaneSource, selection: ToolSelection) -> None:
        self._plane = plane
        self._selection = selection
        self._numbers = itertools.count(1)

    @property
    def instructions(self) -> str:
        """Advice for the model."""
        return instructions([tool.group for tool in self.tools()])

    def tools(self) -> Sequence[McpTool]:
        """Return the offered tools, without asking the control plane."""
        return self._selection.offered(PLANE_TOOLS)

    async def call(self, name: str, arguments: Json) -> McpResult:
        """Execute a call; raises ``UnknownMcpTool``."""
        if name not in {tool.name for tool in self.tools()}:
            raise UnknownMcpTool(name)
        return await guarded(self._called(name, arguments))

    async def answer(self, chat_id: str, text: str, question: str = "") -> None:
        """Answer the question of an agent."""
        plane = await self._plane()
        body = {"answer": text} | ({"question": question} if question else {})
        try:
            await plane.client.request("POST", f"/api/v0/chats/{chat_id}/answer", json=body)
        except (DesktopRefused, DesktopUnavailable) as error:
            raise McpError(str(error)) from error

    async def resources(self) -> Sequence[Json]:
        """Return the resources of this process's chat."""
        found = await reading(self._rpc("resources/list", {}))
        listed: Sequence[Json] = found["resources"]
        return listed

    async def read(self, uri: str) -> Json:
        """Return the content of a resource."""
        if uri != SCREENSHOT and not uri.startswith(RECORDINGS):
            raise McpError(f"there is no resource {uri[:200]}")
        found = await reading(self._rpc("resources/read", {"uri": uri}, uri))
        content: Json = found["contents"][0]
        return {name: content[name] for name in ("mimeType", "text", "blob") if name in content}

    async def _called(self, name: str, arguments: Json) -> McpResult:
        found = await self._rpc("tools/call", {"name": name, "arguments": arguments}, name)
        content: Json = found.get("structuredContent") or {}
        text, image = "", None
        for block in found.get("content") or []:
            if block["type"] == "image":
                image = McpImage(base64.b64decode(block["data"]), block["mimeType"])
            else:
                text = str(block["text"])
        failed = bool(found.get("isError"))
        return McpResult(text, content, image, is_error=failed, question=question_in(content))

    async def _rpc(self, method: str, params: Json, name: str = "") -> Any:
        plane = await self._plane()
        chosen = self._selection
        query = {"tools": ",".join(group for group in chosen.groups if group != "record")}
        query |= {"pictures": chosen.pictures} | ({"read_only": "1"} if chosen.read_only else {})
        headers = {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": VERSION,
            "Mcp-Method": method,
            "Deskhand-Chat-Id": plane.chat_id,
        }
        if name:
            headers["Mcp-Name"] = name
        number = next(self._numbers)
        body = {"jsonrpc": "2.0", "id": number, "method": method}
        content = json.dumps({**body, "params": {**params, "_meta": _META}}).encode()
        try:
            async with (
                asyncio.timeout(LONGEST_CALL),
                plane.client.stream(
                    "POST", f"/mcp?{urlencode(query)}", headers=headers, content=content
                ) as response,
            ):
                return rpc_result(response.status, await response.read())
        except TimeoutError:
            raise DesktopUnavailable(f"no answer within {LONGEST_CALL:g} s") from None
        except DesktopUnavailable:
            await self._plane.check()
            raise


def rpc_result(status: int, body: bytes) -> Any:
    """Return the result in an answer.

    Raises:
        McpError: If it is an error of the protocol.
        DesktopRefused: If access control has refused the request.
    """
    try:
        answer = json.loads(body)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise DesktopRefused(status, f"The control plane answered with status {status}.")
    if isinstance(answer.get("error"), dict):
        raise McpError(str(answer["error"].get("message")))
    if "result" not in answer:
        texts = (str(answer.get(name) or "") for name in ("message", "detail", "code"))
        raise DesktopRefused(status, *texts)
    return answer["result"]
