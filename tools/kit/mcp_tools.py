"""The tools by which a chat uses the MCP servers of its machine.

The tools of servers are not tools of the chat: the tools of a chat are fixed when it begins, and
servers come and go. So one tool lists them and another calls them, and a change has its effect at
the next call.
"""

import base64
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from deskhand.desktop.fields import Field, Fields, spoken_flag, word, written, wrong
from deskhand.tools.conversation.conversation import Image
from deskhand.tools.kit.support.arguments import CheckedTool
from deskhand.tools.kit.support.process_result import Unreachable, json_object
from deskhand.tools.kit.support.spec import (
    Json,
    MachineRefused,
    ToolContext,
    ToolOutcome,
    ToolSpec,
)

TIMEOUT = 100.0
"""Seconds for a request: servers may be connected first, and then have 60 s for a call."""
LIST, CALL, APPROVE = "list_mcp_tools", "call_mcp_tool", "approve_mcp_server"
MEDIA = "[{kind} of type {media_type}, not shown]"
MOST_PICTURES = 1
"""Pictures of one result; ours have at most one too."""
_TOOLS, _CALL = "/api/v0/mcp/tools", "/api/v0/mcp/call-tool"
_APPROVALS = "/api/v0/mcp-approvals"


@dataclass(frozen=True)
class WaitingServer:
    """A definition of a server that no person has approved yet."""

    name: str
    digest: str
    summary: str

    @property
    def question(self) -> str:
        """Return the question for the person."""
        return f"May this MCP server run on the desktop? {self.name}: {self.summary} (yes or no)"


class McpApprovals(Protocol):
    """Approvals by people."""

    async def approved(self, chat_id: str, digests: Collection[str]) -> frozenset[str]:
        """Return those of the digests that are approved for a chat."""

    async def ask(self, context: ToolContext, server: WaitingServer) -> bool:
        """Ask a person for the call of a context; return whether the definition is approved."""


class UnusablePicture(Exception):
    """A picture of a server cannot be shown; the text is the reason."""


class ForeignPictures(Protocol):
    """Storage of pictures that servers return."""

    async def keep(self, chat_id: str, data: bytes) -> Image:
        """Store a picture after its verification.

        Raises:
            UnusablePicture: If it is none, or larger than permitted.
        """


class ListMcpToolsTool(CheckedTool):
    """Lists the tools of the servers, and what keeps others from working."""

    def __init__(self, approvals: McpApprovals) -> None:
        self._approvals = approvals

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return LIST_SPEC

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """List the tools."""
        try:
            refresh = {"refresh": "true"} if given["refresh"] else {}
            listed = await _approved_catalog(self._approvals, context, refresh)
        except Unreachable as error:
            return ToolOutcome.of_error(error)
        servers = [
            {name: one[name] for name in ("name", "state", "error") if one.get(name)}
            for one in listed["servers"]
        ]
        return ToolOutcome({"tools": listed["tools"], "servers": servers})


class CallMcpToolTool(CheckedTool):
    """Calls a tool of a server; without ``pictures`` its pictures are only named."""

    def __init__(self, approvals: McpApprovals, pictures: ForeignPictures | None = None) -> None:
        self._approvals = approvals
        self._pictures = pictures

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return CALL_SPEC

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Call the tool; cancelling makes the server stop."""
        try:
            # A desktop that has just been started does not know the stored approvals.
            await _approved_catalog(self._approvals, context, {})
            body = {"tool_name": given["tool_name"], "arguments": given["arguments"] or {}}
            answer = json_object(
                await context.machine.request("POST", _CALL, json=body, timeout=TIMEOUT)
            )
        except Unreachable as error:
            return ToolOutcome.of_error(error)
        if answer["is_error"]:
            output = "\n".join(_shown(block) for block in answer["content"])
            return ToolOutcome(error=output or "the tool failed")
        return await self._outcome(answer["content"], context)

    async def _outcome(self, blocks: Sequence[Json], context: ToolContext) -> ToolOutcome:
        pictures: list[Image] = []
        lines = []
        for block in blocks:
            line = _shown(block)
            if block["type"] == "image" and self._pictures is not None:
                if len(pictures) == MOST_PICTURES:
                    line = f"[a picture is not shown: at most {MOST_PICTURES} in a result]"
                else:
                    try:
                        kept = await self._pictures.keep(context.chat_id, _bytes(block))
                    except UnusablePicture as error:
                        line = f"[a picture is not shown: {error}]"
                    else:
                        pictures.append(kept)
                        line = f"[picture of {kept.width}x{kept.height}]"
            lines.append(line)
        value: Json = {"output": "\n".join(lines)}
        if pictures:
            value["pictures"] = [one.file_id for one in pictures]
        return ToolOutcome(value, pictures=tuple(pictures))


class ApproveMcpServerTool(CheckedTool):
    """Asks a person for the approval of a server. The question is made of its definition."""

    def __init__(self, approvals: McpApprovals) -> None:
        self._approvals = approvals

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return APPROVE_SPEC

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Wait for the answer, or for the time in which it must come."""
        name = given["server"]
        try:
            listed = await _approved_catalog(self._approvals, context, {})
        except Unreachable as error:
            return ToolOutcome.of_error(error)
        waiting = [one for one in _waiting(listed) if one.name == name]
        if not waiting:
            return ToolOutcome(error=f"no server {name!r} waits for an approval")
        if not await self._approvals.ask(context, waiting[0]):
            return ToolOutcome(error=f"the person did not approve the server {name!r}")
        return ToolOutcome({"approved": name})


async def _approved_catalog(approvals: McpApprovals, context: ToolContext, params: Json) -> Json:
    """Return the servers, after the desktop has learned which of them are approved."""
    listed = await _catalog(context, params)
    digests = await approvals.approved(context.chat_id, [one.digest for one in _waiting(listed)])
    if not digests:
        return listed
    body = {"digests": sorted(digests)}
    try:
        await context.machine.request("POST", _APPROVALS, json=body)
    except MachineRefused:
        return listed
    return await _catalog(context, {})


async def _catalog(context: ToolContext, params: Json) -> Json:
    return json_object(await context.machine.request("GET", _TOOLS, params=params, timeout=TIMEOUT))


def _waiting(listed: Json) -> Sequence[WaitingServer]:
    return [
        WaitingServer(one["name"], one["digest"], one["summary"])
        for one in listed["servers"]
        if one["state"] == "needs_approval"
    ]


def _mapping(name: str, value: Any) -> Json:
    if not isinstance(value, dict):
        raise wrong(name, "an object")
    return value


def _shown(block: Json) -> str:
    return str(block["text"]) or MEDIA.format(kind=block["type"], media_type=block["media_type"])


def _bytes(block: Json) -> bytes:
    try:
        return base64.b64decode(block["data"], validate=True)
    except ValueError as error:
        raise UnusablePicture("its data are not base64") from error


LIST_SPEC = ToolSpec.of(
    LIST,
    "List the tools of the MCP servers that .mcp.json in the working directory names, with their "
    "arguments, and the state of each server.",
    Fields({"refresh": Field({"type": "boolean"}, spoken_flag, False)}),
)
CALL_SPEC = ToolSpec.of(
    CALL,
    "Call a tool of list_mcp_tools.",
    Fields(
        {
            "tool_name": Field({"type": "string", "description": "As server__tool."}, word),
            "arguments": Field({"type": "object"}, written(_mapping)),
        },
        ("tool_name",),
    ),
)
APPROVE_SPEC = ToolSpec.of(
    APPROVE,
    "Ask a person to let an MCP server run whose state is needs_approval.",
    Fields({"server": Field({"type": "string", "description": "Its name."}, word)}, ("server",)),
)


def mcp_tools(
    approvals: McpApprovals, pictures: ForeignPictures | None = None
) -> tuple[ListMcpToolsTool, CallMcpToolTool]:
    """Return the tools that need no person."""
    return ListMcpToolsTool(approvals), CallMcpToolTool(approvals, pictures)
