"""The route ``/mcp``: MCP over streamable HTTP, without sessions.

The SDK takes over half a second and 65 MB to import, so the first request loads it, and the calls
of the tools as well.
"""

import asyncio
import importlib
from collections.abc import Callable
from typing import Any, Protocol

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from .errors import BadMcpOption
from .ports import McpCaller

PATHS = ("/mcp", "/mcp/")
SERVER = "deskhand.desktop.mcp.server"

CallerOf = Callable[[Request], McpCaller]
"""Returns the caller of a request; raises ``BadMcpOption``."""
LoadCallers = Callable[[], CallerOf]
"""Called once, in a thread, as it may load modules."""


class HttpServer(Protocol):
    """The loaded adapter of the SDK."""

    async def serve_http(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""


class McpEndpoint:
    """ASGI application behind access control; it keeps nothing between requests."""

    def __init__(
        self,
        load_callers: LoadCallers,
        version: str,
        load: Callable[[str], Any] = importlib.import_module,
    ) -> None:
        self._load_callers = load_callers
        self._caller_of: CallerOf | None = None
        self._version = version
        self._load = load
        self._server: HttpServer | None = None
        self._loading = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await (await self._refusal(scope) or self._serve)(scope, receive, send)

    async def _refusal(self, scope: Scope) -> Response | None:
        request = Request(scope)
        if request.method != "POST":
            # Without sessions there is neither a stream to open nor a session to delete.
            body = {"message": "This server has no sessions.", "detail": "send POST requests"}
            return JSONResponse(body, 405, {"Allow": "POST"})
        try:
            caller_of = await self._callers()
            request.state.mcp_caller = caller_of(request)
            await self._loaded()
        except BadMcpOption as error:
            return JSONResponse({"message": "Wrong option.", "detail": str(error)}, 400)
        except (ImportError, OSError) as error:
            detail = f"its library cannot be loaded: {error}"
            return JSONResponse({"message": "MCP is not available.", "detail": detail}, 503)
        return None

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._server is not None  # noqa: S101 - `_refusal` has loaded it
        await self._server.serve_http(scope, receive, send)

    async def _callers(self) -> CallerOf:
        async with self._loading:
            if self._caller_of is None:
                self._caller_of = await asyncio.to_thread(self._load_callers)
            return self._caller_of

    async def _loaded(self) -> None:
        async with self._loading:
            if self._server is None:
                module = await asyncio.to_thread(self._load, SERVER)
                self._server = module.McpServer(_noted_caller, self._version)


def _noted_caller(request: Request | None) -> McpCaller:
    assert request is not None  # noqa: S101 - every request over HTTP has one
    caller: McpCaller = request.state.mcp_caller
    return caller


def add_mcp(app: FastAPI, endpoint: McpEndpoint) -> None:
    """Serve MCP at ``/mcp`` and ``/mcp/``."""
    app.router.routes.extend(Route(path, endpoint) for path in PATHS)
