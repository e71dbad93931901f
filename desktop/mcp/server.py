"""Adapter of the MCP SDK: the only module that imports it, loaded at the first use of MCP.

The SDK serves both eras of the protocol: ``initialize`` up to 2025-11-25, and the stateless
requests of 2026-07-28. One server object serves all callers. Each request of it asks for the
`ToolCalls` of its own caller, so nothing is kept between requests, except which calls of a caller
are under way: in the older era their cancellation is a request of its own.

A question of an agent to a person becomes an elicitation: in the older era a request to the host
during the call, in the newer one the result ``input_required``, after which the host repeats the
call with the answer. What is asked and answered is held by the port alone.
"""

import asyncio
import base64
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from deskhand.vncbridge.errors import ClientGone
from deskhand.vncbridge.http.disconnect import disconnected, run_unless

from . import advice
from .errors import McpError, UnknownMcpTool
from .limits import LONGEST_CALL, PROGRESS
from .ports import McpCaller, ToolCalls
from .tool import Json, McpQuestion, McpResult

Context = ServerRequestContext[Any, Any]

ANSWER = "answer"
QUESTION_SCHEMA: Json = {
    "type": "object",
    "properties": {ANSWER: {"type": "string", "title": "Your answer"}},
    "required": [ANSWER],
}
LARGEST_BODY = 4 * 1024 * 1024

# The SDK logs each request and each cancelled call at these levels.
logging.getLogger("mcp").setLevel(logging.ERROR)


class McpServer:
    """Serves MCP over HTTP and over standard input and output."""

    def __init__(
        self,
        caller_of: Callable[[Request | None], McpCaller],
        version: str,
        longest_call: float = LONGEST_CALL,
        progress: float = PROGRESS,
    ) -> None:
        """``caller_of`` gets the HTTP request, None over standard input and output.

        ``longest_call`` and ``progress`` are seconds, of a call and between its reports.
        """
        self._caller_of = caller_of
        self._longest_call = longest_call
        self._progress = progress
        self._running: dict[tuple[str, Any], list[asyncio.Task[Any]]] = {}
        self.in_process = Server[Any](
            "deskhand",
            version=version,
            title="Deskhand",
            # Otherwise the SDK lists the tools before each call.
            get_tool_input_schema=lambda _: None,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )
        """The SDK's server, for a client in the same process."""
        self.in_process.middleware[:] = [self._with_instructions]

    async def serve_http(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; access control has admitted it."""
        headers = Headers(scope=scope)
        accept = headers.get("accept", "")
        # Access control has checked both by the lists of the service; the SDK's check of them
        # stays on, with what passed there.
        security = TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=headers.getlist("host"),
            allowed_origins=headers.getlist("origin"),
        )
        manager = StreamableHTTPSessionManager(
            app=self.in_process,
            # A client that takes JSON only cannot read a stream of progress reports.
            json_response="json" in accept and "event-stream" not in accept,
            stateless=True,
            security_settings=security,
            max_request_body_size=LARGEST_BODY,
        )
        # The SDK notices only while it streams that a client has gone, which ends its wait.
        body = await Request(scope, receive).body()
        handling = self._handled(manager, _with_accept(scope), _replayed(body), send)
        with contextlib.suppress(ClientGone):
            await run_unless(handling, disconnected(receive))

    @staticmethod
    async def _handled(
        manager: StreamableHTTPSessionManager, scope: Scope, receive: Receive, send: Send
    ) -> None:
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    async def serve_stdio(self) -> None:
        """Serve standard input and output until the end of the input."""
        async with stdio_server() as (reading, writing):
            options = self.in_process.create_initialization_options()
            await self.in_process.run(reading, writing, options)

    async def _with_instructions(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.method == "notifications/cancelled":
            self._cancel(ctx)
        result = await call_next(ctx)
        # The instructions name the tools that this caller is offered.
        if ctx.method in ("initialize", "server/discover") and isinstance(result, dict):
            result = {**result, "instructions": self._caller_of(ctx.request).calls.instructions}
        return result

    def _cancel(self, context: Context) -> None:
        named = (context.params or {}).get("requestId")
        running = self._running.get((self._caller_of(context.request).key, named), [])
        # Two clients of one credential may use the same id: it is not known which of them cancels.
        if len(running) == 1:
            running[0].cancel()

    async def _list_tools(
        self, context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        tools = [tool.to_json() for tool in self._caller_of(context.request).calls.tools()]
        return types.ListToolsResult.model_validate({"tools": tools})

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        calls = self._caller_of(context.request).calls
        asking = _Asking(context, params)
        deadline = asyncio.get_running_loop().time() + self._longest_call
        with self._registered(context):
            try:
                await asking.deliver(calls)
                while True:
                    call = calls.call(params.name, dict(params.arguments or {}))
                    result = await self._reported(context, self._by(deadline, call))
                    if result.question is None or asking.declined:
                        return _result(result)
                    if asking.by_result:
                        return asking.required(result.question)
                    if not await asking.asked(calls, result.question, deadline):
                        return _result(result)
            except UnknownMcpTool as error:
                raise MCPError(types.INVALID_PARAMS, str(error)) from error
            except McpError as error:
                return _result(McpResult(f"{error}.", is_error=True))

    async def _by(self, deadline: float, call: Awaitable[McpResult]) -> McpResult:
        try:
            async with asyncio.timeout_at(deadline):
                return await call
        except TimeoutError:
            text = (
                f"No answer within {self._longest_call:g} s; what was begun goes on. Look at its "
                "state before you repeat the call."
            )
            return McpResult(text, is_error=True)

    async def _reported(self, context: Context, call: Coroutine[Any, Any, McpResult]) -> McpResult:
        """Await a call; the SDK sends the reports meanwhile if the host has asked for them."""
        loop = asyncio.get_running_loop()
        working, began = asyncio.ensure_future(call), loop.time()
        try:
            while not (await asyncio.wait({working}, timeout=self._progress))[0]:
                seconds = loop.time() - began
                await context.session.report_progress(
                    seconds, message=f"Working for {seconds:.0f} s"
                )
            return await working
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)

    @contextlib.contextmanager
    def _registered(self, context: Context) -> Any:
        key = (self._caller_of(context.request).key, context.request_id)
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - handlers run in tasks
        self._running.setdefault(key, []).append(task)
        try:
            yield
        finally:
            self._running[key].remove(task)
            if not self._running[key]:
                del self._running[key]

    async def _list_resources(
        self, context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        listed = await _protocol(self._caller_of(context.request).calls.resources())
        return types.ListResourcesResult.model_validate({"resources": list(listed)})

    async def _list_templates(
        self, _context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        template = {
            "uriTemplate": "deskhand://recordings/{id}",
            "name": "recording",
            "title": "Steps of a recording",
            "mimeType": "text/plain",
        }
        return types.ListResourceTemplatesResult.model_validate({"resourceTemplates": [template]})

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        found = await _protocol(self._caller_of(context.request).calls.read(str(params.uri)))
        contents = [{"uri": str(params.uri), **found}]
        return types.ReadResourceResult.model_validate({"contents": contents})

    async def _list_prompts(
        self, _context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        argument = {"name": advice.TASK, "description": "What to do.", "required": True}
        one = {
            "name": advice.PROMPT,
            "title": advice.PROMPT_TITLE,
            "description": advice.PROMPT_DESCRIPTION,
            "arguments": [argument],
        }
        return types.ListPromptsResult.model_validate({"prompts": [one]})

    async def _get_prompt(
        self, _context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        if params.name != advice.PROMPT:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name[:80]}")
        text = advice.prompt((params.arguments or {}).get(advice.TASK, ""))
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return types.GetPromptResult.model_validate({"messages": [message]})


class _Asking:
    """The elicitation of one call: whether the host can ask a person, and how."""

    def __init__(self, context: Context, params: types.CallToolRequestParams) -> None:
        self._context = context
        self._responses = params.input_responses
        self._state = params.request_state
        self._named = json.dumps(params.arguments or {})
        session = context.session
        capabilities = session.client_capabilities
        asks = capabilities is not None and capabilities.elicitation is not None
        self.by_result = asks and session.protocol_version in MODERN_PROTOCOL_VERSIONS
        """True if the host repeats the call with the answer."""
        self._by_request = asks and not self.by_result and session.can_send_request
        self.declined = False
        """True if the person gave no answer, and must not be asked again in this call."""

    async def deliver(self, calls: ToolCalls) -> None:
        """Pass on the answer with which the host has repeated the call."""
        if not self._responses:
            return
        # The state comes back from the host: only an agent that the call names is answered.
        chat_id, _, question = (self._state or "").partition(" ")
        text = _answer_in(self._responses.get(ANSWER))
        self.declined = not text or not chat_id or chat_id not in self._named
        if not self.declined:
            await calls.answer(chat_id, text, question)

    def required(self, question: McpQuestion) -> types.InputRequiredResult:
        """Return the result that makes the host ask."""
        params = {"mode": "form", "message": question.text, "requestedSchema": QUESTION_SCHEMA}
        return types.InputRequiredResult.model_validate(
            {
                "inputRequests": {ANSWER: {"method": "elicitation/create", "params": params}},
                "requestState": f"{question.chat_id} {question.id}".rstrip(),
            }
        )

    async def asked(self, calls: ToolCalls, question: McpQuestion, deadline: float) -> bool:
        """Ask during the call and pass on the answer; return whether there was one in time."""
        if not self._by_request:
            return False
        session = self._context.session
        try:
            async with asyncio.timeout_at(deadline):
                reply = await session.elicit_form(
                    question.text, QUESTION_SCHEMA, related_request_id=self._context.request_id
                )
        except (TimeoutError, MCPError):
            return False
        text = _answer_in(reply)
        if text:
            await calls.answer(question.chat_id, text, question.id)
        return bool(text)


def _answer_in(reply: Any) -> str:
    """Return the text of an accepted elicitation; empty if it was declined."""
    if not isinstance(reply, types.ElicitResult) or reply.action != "accept":
        return ""
    return str((reply.content or {}).get(ANSWER) or "").strip()


async def _protocol(reading: Awaitable[Any]) -> Any:
    """Await what has no place for an error of its own."""
    try:
        return await reading
    except McpError as error:
        raise MCPError(types.INVALID_PARAMS, str(error)) from error


def _result(result: McpResult) -> types.CallToolResult:
    content: list[Json] = [{"type": "text", "text": result.text}]
    if result.image is not None:
        data = base64.b64encode(result.image.data).decode()
        content.append({"type": "image", "data": data, "mimeType": result.image.media_type})
    return types.CallToolResult.model_validate(
        {"content": content, "structuredContent": result.content, "isError": result.is_error}
    )


def _replayed(body: bytes) -> Receive:
    """Return a function that receives a body, and then nothing more."""
    parts = [body]

    async def receive() -> Message:
        if not parts:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": parts.pop(), "more_body": False}

    return receive


def _with_accept(scope: Scope) -> Scope:
    """Return a request that accepts both types, as the protocol demands of clients."""
    headers = [(name, value) for name, value in scope["headers"] if name != b"accept"]
    headers.append((b"accept", b"application/json, text/event-stream"))
    return {**scope, "headers": headers}
