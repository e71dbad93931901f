"""Routes of the tools of the agent's MCP servers."""

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import JSONResponse

from deskhand.desktop.fields import known
from deskhand.desktop.files.api import Answer, CallExecutor
from deskhand.desktop.http_errors import answered, refusal
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .errors import McpClientError
from .tool_servers import ToolServers

Json = dict[str, Any]

FAILED = "MCP tool call failed."
APPROVALS = "/mcp-approvals"
"""Not below ``/mcp``, which the control plane forwards: approvals are rows of its database."""
MOST_DIGESTS = 10_000
_DIGEST = re.compile("[0-9a-f]{64}")

_CALL: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": ["tool_name"],
    "properties": {
        "tool_name": {"type": "string", "description": "Name of the form server__tool."},
        "arguments": {"type": "object"},
    },
}
_DIGESTS: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": ["digests"],
    "properties": {"digests": {"type": "array", "items": {"type": "string"}}},
}


def router(servers: ToolServers, once: CallExecutor, check_start: Callable[[], None]) -> APIRouter:
    """Return the routes; ``check_start`` raises `Occupied` while processes are stopped."""
    routes = LazyRouter(prefix="/api/v0", tags=["mcp"])

    @routes.get("/mcp/tools")
    async def tools(refresh: bool = False) -> Json:
        """List the tools of the servers in the agent's ``.mcp.json``, and their states.

        ``refresh`` connects failed servers again and lists all tools again.
        """
        with answered():
            check_start()
        try:
            return await servers.catalog(refresh=refresh)
        except McpClientError as error:
            raise refusal(503, "The MCP servers are not available.", str(error)) from error

    @routes.post("/mcp/call-tool", openapi_extra=_body(_CALL))
    async def call_tool(request: Request) -> JSONResponse:
        """Call a tool of a server."""
        body = await request.body()
        name, arguments = _asked(body)
        with answered():
            check_start()

        async def act() -> Answer:
            try:
                return 200, await servers.call(name, arguments)
            except McpClientError as error:
                return error.status, {"message": FAILED, "detail": str(error)}

        status, answer = await once(request.headers, hashlib.sha256(body).hexdigest(), act)
        if status != 200:
            raise HTTPException(status, answer)
        return JSONResponse(answer)

    @routes.post(APPROVALS, openapi_extra=_body(_DIGESTS))
    async def approve(request: Request) -> Json:
        """Approve definitions of servers by their digests; they are connected when needed."""
        return {"approved": servers.approve(_digests(await request.body()))}

    return routes


def _asked(body: bytes) -> tuple[str, Json]:
    fields = _fields(body, "tool_name", "arguments")
    name, arguments = fields.get("tool_name"), fields.get("arguments")
    if not isinstance(name, str):
        raise refusal(400, FAILED, "tool_name is not a string")
    if not isinstance(arguments, dict | None):
        raise refusal(400, FAILED, "arguments is not an object")
    return name, arguments or {}


def _digests(body: bytes) -> list[str]:
    digests = _fields(body, "digests").get("digests")
    if not isinstance(digests, list) or len(digests) > MOST_DIGESTS:
        raise refusal(400, "Wrong request.", f"digests is no list of at most {MOST_DIGESTS}")
    if not all(isinstance(one, str) and _DIGEST.fullmatch(one) for one in digests):
        raise refusal(400, "Wrong request.", "a digest has 64 hexadecimal digits")
    return digests


def _fields(body: bytes, *names: str) -> Json:
    try:
        fields = json.loads(body)
    # RecursionError: thousands of nested brackets.
    except (ValueError, RecursionError) as error:
        raise refusal(400, "Wrong request.", f"the body is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise refusal(400, "Wrong request.", "the body is not a JSON object")
    with answered():
        known(fields, names)
    return fields


def _body(schema: Json) -> Json:
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}
