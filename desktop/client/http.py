"""HTTP and WebSocket client of a desktop service, for the control plane and the tools."""

import asyncio
import json as jsonlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    aclosing,
    asynccontextmanager,
    suppress,
)
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode

import httpx2
from websockets.asyncio.client import ClientConnection, connect, unix_connect
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.typing import Subprotocol

from deskhand.desktop.errors import (
    DesktopBusy,
    DesktopOccupied,
    DesktopRefused,
    DesktopUnavailable,
    HeldByChat,
    HumanInControl,
    NotOnDesktop,
)
from deskhand.desktop.server_trust.server_trust import ServerTrust, trust_of

from .http1.connections import ConnectionPool, Connections, ServicePlace, connections_of, pool_to
from .http1.open_reply import HttpxReply, OpenReply, unavailable
from .http1.request import JSON, ClientRequest, json_body, target
from .lines import StreamedLines

Json = dict[str, Any]

_UNIX = "unix:"
_PREFIX = "/api/v0/desktop"
# An action takes up to 100 s, and a full queue of actions may run before it.
_ACTION_TIMEOUT = 330.0
_OCCUPIED = (HumanInControl.code, HeldByChat.code)
_KINDS = {404: NotOnDesktop, 429: DesktopBusy, 503: DesktopBusy}


@dataclass(frozen=True)
class HttpReply:
    """An answer that is not an error."""

    status: int
    headers: Mapping[str, str]
    """Names are case-insensitive."""
    content: bytes


class DesktopClient:
    """One desktop service, over its unix socket or TCP. An async context manager.

    Every method raises :class:`DesktopUnavailable` when the service cannot be reached or breaks
    off, and all but :meth:`stream` raise :class:`DesktopRefused` when it answers with an error.
    """

    def __init__(
        self,
        address: str,
        token: str,
        trust: ServerTrust | None = None,
        pool: ConnectionPool | None = None,
    ) -> None:
        """``address`` is ``unix:/path/of/socket`` or ``http://127.0.0.1:1234``.

        ``trust`` is for ``https://``; by default it is what the environment names. ``pool`` has the
        connections to the address if other services share them; its owner closes it.
        """
        self._shared = pool is not None
        self._server_name: str | None = None
        if pool is not None and isinstance(pool.place, ServicePlace) and pool.place.tls:
            self._tls, self._server_name = pool.place.tls, pool.place.server_name
        else:
            # httpx2 verifies by the same context as websockets.
            self._tls = (trust or trust_of()).context(address)
        self._socket = address.removeprefix(_UNIX) if address.startswith(_UNIX) else None
        # A Unix socket needs no host, but the service refuses requests whose Host is not loopback.
        self._base = "http://localhost" if self._socket else address.rstrip("/")
        self._authorization = {"Authorization": f"Bearer {token}"} if token else {}
        self._pool = pool or pool_to(self._base, self._socket)
        self._connections: Connections | None = None
        if self._pool is not None:
            self._connections = connections_of(self._pool, self._base, self._authorization)
        self._http = httpx2.AsyncClient(
            base_url=self._base,
            headers=self._authorization,
            transport=httpx2.AsyncHTTPTransport(
                uds=self._socket,
                verify=self._tls,
                # Event streams and downloads keep connections for long; a limit would let short
                # requests wait for them.
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
            ),
            # Proxy variables of the environment must not redirect requests to a local service.
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections, of a pool that is shared those in use here; twice is fine."""
        if self._connections is not None:
            end = self._connections.end if self._shared else self._connections.close
            end()
        await self._http.aclose()

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> Any:
        """Send one request and return its JSON body, or its bytes if it is not JSON."""
        reply = await self.reply(
            method,
            path,
            json=json,
            content=content,
            params=params,
            headers=headers,
            timeout=timeout,
        )
        return _body(reply)

    async def reply(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> HttpReply:
        """Send one request and return its answer undecoded, unless it is an error."""
        fields = _sent(headers, content)
        if json is not None:
            fields, content = {**fields, "Content-Type": JSON}, json_body(json)
        if self._connections is None:
            found = await self._by_httpx(method, path, content, params, fields, timeout)
        else:
            request = ClientRequest(method, target(path, params), fields, content)
            found = await self._directly(self._connections, request, timeout)
        if found.status >= 400:
            raise _refused(found.status, found.content)
        return found

    async def _directly(
        self, connections: Connections, request: ClientRequest, timeout: float
    ) -> HttpReply:
        with unavailable():
            answer = await connections.request(request, timeout)
        head = answer.head
        return HttpReply(head.status, httpx2.Headers(list(head.fields)), answer.content)

    async def _by_httpx(
        self,
        method: str,
        path: str,
        content: bytes | None,
        params: Mapping[str, str] | None,
        fields: Mapping[str, str],
        timeout: float,
    ) -> HttpReply:
        with unavailable():
            response = await self._http.request(
                method, path, content=content, params=params, headers=fields, timeout=timeout
            )
        return HttpReply(response.status_code, response.headers, response.content)

    async def status(self) -> Json:
        """Return identity and state of the desktop."""
        return _object(await self.request("GET", _PREFIX))

    async def screenshot(self, **params: str) -> bytes:
        """Take a screenshot; ``params`` are those of the route, such as ``format="jpeg"``."""
        picture = await self.request("GET", f"{_PREFIX}/screenshot", params=params)
        if not isinstance(picture, bytes):
            raise DesktopUnavailable("the service answered a screenshot with something else")
        return picture

    async def action(
        self, payload: Mapping[str, Any], *, headers: Mapping[str, str] | None = None
    ) -> Json:
        """Perform one action; cancelling releases all keys and buttons that it holds."""
        answer = await self.request(
            "POST", f"{_PREFIX}/action", json=payload, headers=headers, timeout=_ACTION_TIMEOUT
        )
        return _object(answer)

    async def actions(
        self, payload: Mapping[str, Any], *, headers: Mapping[str, str] | None = None
    ) -> Json:
        """Perform a batch of actions."""
        answer = await self.request(
            "POST", f"{_PREFIX}/actions", json=payload, headers=headers, timeout=_ACTION_TIMEOUT
        )
        return _object(answer)

    async def download(
        self,
        path: str,
        to: Path,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> int:
        """Write a body to a file and return its length; a broken-off download leaves no file."""
        # The part is in the same folder, because rename(2) does not cross file systems.
        partial = to.with_name(to.name + ".part")
        try:
            async with self.stream("GET", path, params=params, headers=headers) as response:
                if response.status >= 400:
                    raise _refused(response.status, await response.read())
                length = await _write(response, partial)
            # The file gets its name only when it is complete.
            await asyncio.to_thread(partial.replace, to)
        except BaseException:
            with suppress(FileNotFoundError):
                partial.unlink()
            raise
        return length

    def stream(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | AsyncGenerator[bytes, None] | None = None,
        params: Mapping[str, str] | None = None,
    ) -> AbstractAsyncContextManager[OpenReply]:
        """Send one request and return its answer, of any status, with its content unread.

        Only connecting has a timeout. Leaving the block before the end of the content ends the
        request at the service.
        """
        if self._connections is None:
            return self._stream_by_httpx(method, path, headers, content, params)
        whole = content if isinstance(content, bytes) else None
        upload = None if isinstance(content, bytes) else content
        request = ClientRequest(
            method, target(path, params), headers or {}, whole, upload is not None
        )
        return self._connections.stream(request, upload)

    @asynccontextmanager
    async def _stream_by_httpx(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None,
        content: bytes | AsyncGenerator[bytes, None] | None,
        params: Mapping[str, str] | None,
    ) -> AsyncIterator[OpenReply]:
        answer = self._http.stream(
            method,
            path,
            # The content is read as it was sent.
            headers={"Accept-Encoding": "identity", **(headers or {})},
            content=content,
            params=params,
            # Content may pause for any time: an event stream of an idle desktop sends next to
            # nothing.
            timeout=httpx2.Timeout(None, connect=10.0),
        )
        async with AsyncExitStack() as stack:
            with unavailable():
                response = await stack.enter_async_context(answer)
            yield HttpxReply(response)

    @asynccontextmanager
    async def lines(
        self, path: str, headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[StreamedLines]:
        """Read a response body line by line while it is being received."""
        async with self.stream("GET", path, headers=headers) as response:
            if response.status >= 400:
                raise _refused(response.status, await response.read())
            lines = StreamedLines(response.lines())
            try:
                yield lines
            finally:
                await lines.close()

    @asynccontextmanager
    async def websocket(
        self,
        path: str,
        subprotocols: Sequence[str] = (),
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[ClientConnection]:
        """Open a WebSocket without compression and without a limit on message size."""
        # The same replacement makes wss of https.
        uri = self._base.replace("http", "ws", 1) + path
        if params:
            uri += "?" + urlencode(params)
        options: dict[str, Any] = {
            "additional_headers": {**(headers or {}), **self._authorization},
            "subprotocols": [Subprotocol(name) for name in subprotocols] or None,
            "compression": None,
            "max_size": None,
            # The default buffers 16 messages for a slow reader, and each may be of any size.
            "max_queue": 1,
            "proxy": None,
        }
        if uri.startswith("wss:"):
            options["ssl"] = self._tls
            if self._server_name is not None:
                options["server_hostname"] = self._server_name
        opening = (
            connect(uri, **options)
            if self._socket is None
            else unix_connect(self._socket, uri, **options)
        )
        try:
            connection = await opening
        except InvalidStatus as error:
            raise _refused(error.response.status_code, bytes(error.response.body or b"")) from error
        except (OSError, TimeoutError, WebSocketException) as error:
            raise DesktopUnavailable(str(error)) from error
        try:
            yield connection
        finally:
            await connection.close()


async def _write(response: OpenReply, to: Path) -> int:
    length = 0
    file = await asyncio.to_thread(to.open, "wb")
    try:
        async with aclosing(response.chunks()) as chunks:
            async for chunk in chunks:
                length += await asyncio.to_thread(file.write, chunk)
    finally:
        file.close()
    return length


def _sent(headers: Mapping[str, str] | None, content: bytes | None) -> dict[str, str]:
    sent = dict(headers or {})
    # httpx sends bytes without a Content-Type.
    if content is not None and "content-type" not in {name.lower() for name in sent}:
        sent["Content-Type"] = "application/octet-stream"
    return sent


def _body(reply: HttpReply) -> Any:
    kind = reply.headers.get("content-type", "").partition(";")[0]
    # FastAPI sends application/json for an empty body too.
    if not reply.content or kind != "application/json":
        return reply.content
    try:
        return jsonlib.loads(reply.content)
    except ValueError as error:
        raise DesktopUnavailable(f"the service answered with broken JSON: {error}") from error


def _refused(status: int, content: bytes) -> DesktopRefused:
    try:
        body = jsonlib.loads(content)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        return DesktopRefused(status, f"The desktop answered with status {status}.")
    message, detail, code = (str(body.get(name) or "") for name in ("message", "detail", "code"))
    # Only the code distinguishes the reasons of a 409, so it goes before the status.
    kind = DesktopOccupied if code in _OCCUPIED else _KINDS.get(status, DesktopRefused)
    return kind(status, message, detail, code)


def _object(answer: Any) -> Json:
    if not isinstance(answer, dict):
        raise DesktopUnavailable("the service answered with something else than an object")
    return answer
