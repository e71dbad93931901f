"""Calls of the service's own routes, in this process, for routers of other protocols.

MCP and the dialects do not use the parts of the desktop themselves: they send the requests that a
client would send. A request goes through the whole application, with the credential of the caller
that it serves. So everything that holds for our own routes holds for every protocol: scopes, the
lease, private take-over, limits, redaction and the wait for a display.

- `OwnApi` is the application of one service. `OwnApi.for_request` returns an `ApiCaller`.
- An `ApiCaller` speaks for one request or connection of one client. It repeats the headers that
  decide about access (`FORWARDED`), and no others: the id of a tool call names a single call, so
  that the two actions of one translated request must not share it.
- The ``tool`` of a call is the name of its step in recordings, as ``osworld.execute``. It is passed
  in the scope, where no client can set it. `ApiCaller.step` adds the step for a call that is no
  action of the computer.
- Cancelling a call cancels the route as a client does that closes its connection.
"""

import asyncio
import json as jsonlib
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deskhand.desktop.errors import DesktopRefused
from deskhand.desktop.tool_calls.caller import TOOL
from deskhand.recording.step import Step
from deskhand.vncbridge.auth.policy import CALLING_DIALECT

from .reply import Reply

FORWARDED = frozenset(
    {
        *(b"host", b"origin", b"sec-fetch-site", b"authorization", b"cookie"),
        *(b"deskhand-chat-id", b"deskhand-ancestor-chat-ids", b"deskhand-instance"),
        *(b"coder-chat-id", b"coder-ancestor-chat-ids", b"coder-instance"),
        *(b"deskhand-role", b"deskhand-caller"),
    }
)
"""Headers of the client's request that its calls carry too."""

Body = bytes | AsyncIterator[bytes]


@dataclass(frozen=True)
class OwnApi:
    """The application of this service; ``record`` adds a step, with times since 1970."""

    app: ASGIApp
    record: Callable[[Step], None]
    clock: Callable[[], float] = time.time

    def for_request(self, scope: Scope) -> "ApiCaller":
        """Return the caller that speaks for the client of a request or a WebSocket."""
        return ApiCaller(self, scope)


class ApiCaller:
    """Calls routes with the credential of one client."""

    def __init__(self, api: OwnApi, client: Scope) -> None:
        self._api = api
        self._client = client
        self._headers = [pair for pair in client["headers"] if pair[0] in FORWARDED]

    @property
    def chat_id(self) -> str:
        """Id of the chat that the client names; empty if it names none."""
        named = dict(reversed(self._headers))
        found = named.get(b"deskhand-chat-id") or named.get(b"coder-chat-id") or b""
        return found.decode("latin-1")

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: Body | None = None,
        params: Mapping[str, str] | None = None,
        tool: str = "",
    ) -> Any:
        """Call a route and return its JSON value; bytes if it answers with another type.

        Raises:
            DesktopRefused: If the route answers with an error.
        """
        reply = await self.send(method, path, json=json, content=content, params=params, tool=tool)
        if reply.status >= 400:
            raise reply.refusal()
        return reply.json() if reply.media_type == "application/json" else reply.body

    async def send(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: Body | None = None,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        tool: str = "",
    ) -> Reply:
        """Call a route and return its answer, also that of an error, whole."""
        status, answered = 0, dict[str, str]()
        parts: list[bytes] = []

        async def send(message: Message) -> None:
            nonlocal status, answered
            if message["type"] == "http.response.start":
                status = message["status"]
                answered = {
                    name.decode("latin-1").lower(): value.decode("latin-1")
                    for name, value in message.get("headers", ())
                }
            elif message["type"] == "http.response.body":
                parts.append(message.get("body", b""))

        body = content if json is None else jsonlib.dumps(json).encode()
        kind = "application/octet-stream" if json is None else "application/json"
        named = {} if body is None else {"content-type": kind}
        scope = self._scope(method, path, params, {**named, **(headers or {})}, tool)
        if isinstance(body, bytes):
            scope["headers"].append((b"content-length", str(len(body)).encode()))
        elif body is not None:
            scope["headers"].append((b"transfer-encoding", b"chunked"))
        await self._api.app(scope, _Incoming(body).receive, send)
        return Reply(status, answered, b"".join(parts))

    async def pass_on(
        self,
        path: str,
        receive: Receive,
        send: Send,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        refused: Callable[[DesktopRefused], ASGIApp],
    ) -> None:
        """Answer the client's request with the bytes of a route that reads, as they come.

        ``headers`` are added to a success. ``refused`` answers instead if the route refuses.
        ``receive`` is the client's: the route ends when the client has gone.
        """
        status = 0
        parts: list[bytes] = []
        added = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
        replaced = {name.lower() for name, _ in added}

        async def passed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                kept = [pair for pair in message["headers"] if pair[0].lower() not in replaced]
                message = {**message, "headers": [*kept, *added]}
            if status < 400:
                await send(message)
            elif message["type"] == "http.response.body":
                parts.append(message.get("body", b""))

        scope = self._scope("GET", path, params, {}, "")
        await self._api.app(scope, receive, passed)
        if status >= 400:
            refusal = Reply(status, {}, b"".join(parts)).refusal()
            await refused(refusal)(self._client, receive, send)

    @contextmanager
    def step(self, tool: str, title: str) -> Iterator[None]:
        """Add what happens in the block to the recordings, as one step with its times and error."""
        started = self._api.clock()
        error: str | None = None
        try:
            yield
        except asyncio.CancelledError:
            error = "cancelled"
            raise
        except DesktopRefused as refused:
            error = str(refused)
            raise
        finally:
            ended = max(started, self._api.clock())
            step = Step(
                chat_id=self.chat_id,
                tool=tool,
                title=title,
                started=started,
                ended=ended,
                error=error,
            )
            self._api.record(step)

    def _scope(
        self,
        method: str,
        path: str,
        params: Mapping[str, str] | None,
        headers: Mapping[str, str],
        tool: str,
    ) -> Scope:
        added = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        # A dialect may call for its client what the client may not call itself.
        named = ("client", "server", CALLING_DIALECT)
        kept = {name: self._client[name] for name in named if name in self._client}
        return {
            **kept,
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "https" if self._client.get("scheme") in ("https", "wss") else "http",
            "method": method,
            "path": path,
            "raw_path": quote(path).encode(),
            "query_string": urlencode(params or {}).encode(),
            "headers": [*self._headers, *added],
            **({TOOL: tool} if tool else {}),
        }


class _Incoming:
    """The messages that a route receives: the body, and then nothing more."""

    def __init__(self, body: Body | None) -> None:
        self._parts = _parts(body)
        self._complete = False

    async def receive(self) -> Message:
        if self._complete:
            # A client that stays connected. The call is cancelled when the client has gone.
            await asyncio.Event().wait()
        part = await anext(self._parts, None)
        self._complete = part is None
        return {"type": "http.request", "body": part or b"", "more_body": part is not None}


async def _parts(body: Body | None) -> AsyncIterator[bytes]:
    if isinstance(body, bytes):
        yield body
    elif body is not None:
        async for part in body:
            yield part
