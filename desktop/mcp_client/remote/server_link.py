"""Adapter of httpx2: the HTTP requests of one connection to a server, within limits.

A server is foreign: its answers have a largest size and no compression, and it is asked no more
often than once a second for a stream that it closes again and again. A link *breaks* when it
cannot carry on: no connection, a lost session, or a refused start; then its connection to the
server ends, and the next call opens another.
"""

import asyncio
import math
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Literal

import httpcore2
import httpx2

from deskhand.desktop.mcp_client.errors import ServerFailed
from deskhand.desktop.mcp_client.ports import Connect
from deskhand.desktop.mcp_client.server_program import LONGEST_LINE

from .agent_network import AgentNetwork
from .proxies import proxy_of

CONNECT_SECONDS = 15.0
ANSWER_SECONDS = 90.0
"""Time between two parts of an answer; a call has less (`session.CALL_SECONDS`)."""
END_SECONDS = 2.0
"""Time to notify a server that its session ends."""
STREAM_INTERVAL = 1.0
"""Seconds between two requests for a stream of messages."""
MOST_CONNECTIONS = 32

SESSION, VERSION = "mcp-session-id", "mcp-protocol-version"
"""Headers of requests: the second one is sent from the end of `initialize` on."""


class ServerLink(httpx2.AsyncBaseTransport):
    """Sends the requests of one connection."""

    def __init__(
        self,
        transport: Literal["http", "sse"],
        connect: Connect,
        environment: Mapping[str, str],
        tls: Callable[[], ssl.SSLContext] = ssl.create_default_context,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """``environment`` names the proxies; ``tls`` is called in a thread, if it is needed."""
        self._transport = transport
        self._network = AgentNetwork(connect)
        self._environment = environment
        self._tls = tls
        self._clock = clock
        self._pause = pause
        self._pools: dict[str, httpcore2.AsyncConnectionPool] = {}
        self._opening = asyncio.Lock()
        self._next_stream = -math.inf
        self._closed = False
        self.broken = ""
        """Why it cannot carry on; empty while it can."""
        self.on_broken: Callable[[], None] = lambda: None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and return the beginning of its answer."""
        try:
            match request.method:
                case "DELETE":
                    return await self._ended(request)
                case "GET":
                    await self._stream_permitted()
                    return self._judged(request, await self._sent(request, None))
                case _:
                    return self._judged(request, await self._sent(request, ANSWER_SECONDS))
        except (ServerFailed, httpcore2.NetworkError, httpcore2.TimeoutException) as error:
            self._fail(request, str(error) or type(error).__name__)
            raise
        except (httpcore2.ProtocolError, httpcore2.ProxyError) as error:
            self._fail(request, f"{type(error).__name__}: {error}")
            raise

    async def aclose(self) -> None:
        """Close all connections."""
        self._closed = True
        for pool in self._pools.values():
            await pool.aclose()

    async def _sent(self, request: httpx2.Request, seconds: float | None) -> httpx2.Response:
        pool = await self._pool(request.url)
        limits = {"connect": CONNECT_SECONDS, "write": ANSWER_SECONDS, "read": seconds}
        answer = await pool.handle_async_request(
            httpcore2.Request(
                method=request.method,
                url=httpcore2.URL(
                    scheme=request.url.raw_scheme,
                    host=request.url.raw_host,
                    port=request.url.port,
                    target=request.url.raw_path,
                ),
                headers=request.headers.raw,
                content=request.stream,
                extensions={**request.extensions, "timeout": limits},
            )
        )
        return httpx2.Response(
            answer.status,
            headers=answer.headers,
            stream=_LimitedBody(answer, self, request),
            extensions=answer.extensions,
        )

    async def _ended(self, request: httpx2.Request) -> httpx2.Response:
        """End the session; a body of the answer is not read."""
        async with asyncio.timeout(END_SECONDS):
            answer = await self._sent(request, END_SECONDS)
            await answer.aclose()
        return httpx2.Response(answer.status_code)

    async def _pool(self, url: httpx2.URL) -> httpcore2.AsyncConnectionPool:
        proxy = proxy_of(url.scheme, url.host, self._environment)
        if proxy and not proxy.startswith("http://"):
            raise ServerFailed("proxies are used by http:// only")
        key = f"{url.scheme} {proxy}"
        async with self._opening:
            if key not in self._pools:
                self._pools[key] = await self._opened(url.scheme, proxy)
        return self._pools[key]

    async def _opened(self, scheme: str, proxy: str) -> httpcore2.AsyncConnectionPool:
        # Reads the certificates of the system.
        context = await asyncio.to_thread(self._tls) if scheme == "https" else None
        if not proxy:
            return httpcore2.AsyncConnectionPool(
                ssl_context=context,
                max_connections=MOST_CONNECTIONS,
                network_backend=self._network,
            )
        parts = httpx2.Proxy(proxy)
        return httpcore2.AsyncHTTPProxy(
            proxy_url=httpcore2.URL(str(parts.url)),
            proxy_auth=parts.raw_auth,
            ssl_context=context,
            max_connections=MOST_CONNECTIONS,
            network_backend=self._network,
        )

    async def _stream_permitted(self) -> None:
        now = self._clock()
        wait, self._next_stream = (
            self._next_stream - now,
            max(self._next_stream, now) + STREAM_INTERVAL,
        )
        if wait > 0:
            await self._pause(wait)

    def _judged(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise ServerFailed("the server sends compressed answers, which were not asked for")
        status = response.status_code
        if status >= 400 and self._ends(request, status):
            lost = status == 404 and SESSION in request.headers
            reason = " (the session is lost)" if lost else ""
            self._fail(request, f"the server answered with HTTP {status}{reason}")
        return response

    def _ends(self, request: httpx2.Request, status: int) -> bool:
        """Return whether a refused request is the end of the connection."""
        if self._transport == "sse":
            return True
        if VERSION not in request.headers:
            # A server without a handshake refuses ``initialize`` with 400 (2026-07-28).
            return status != 400
        return status == 404 and SESSION in request.headers and request.method == "POST"

    def _fail(self, request: httpx2.Request, reason: str) -> None:
        # The stream of HTTP is optional; that of SSE is the connection.
        optional = request.method == "DELETE" or (
            request.method == "GET" and self._transport == "http"
        )
        if not (optional or self._closed or self.broken):
            self.broken = reason
            self.on_broken()

    def body_ended(self, request: httpx2.Request, reason: str) -> None:
        """Learn that the body of an answer has ended; ``reason`` is empty for a regular end."""
        if self._transport == "sse" and request.method == "GET":
            reason = reason or "the server has closed the connection"
        if reason:
            self._fail(request, reason)


class _LimitedBody(httpx2.AsyncByteStream):
    """Body of an answer; one that is no stream of events has a largest size."""

    def __init__(
        self, answer: httpcore2.Response, link: ServerLink, request: httpx2.Request
    ) -> None:
        self._answer = answer
        self._link = link
        self._request = request
        self._events = any(
            name.lower() == b"content-type" and value.lower().startswith(b"text/event-stream")
            for name, value in answer.headers
        )

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, reason = 0, ""
        try:
            async for part in self._answer.aiter_stream():
                size += len(part)
                if size > LONGEST_LINE and not self._events:
                    raise ServerFailed(f"a message is longer than {LONGEST_LINE} bytes")
                yield part
        except (ServerFailed, httpcore2.NetworkError, httpcore2.TimeoutException) as error:
            reason = str(error) or type(error).__name__
            raise
        finally:
            self._link.body_ended(self._request, reason)

    async def aclose(self) -> None:
        await self._answer.aclose()
