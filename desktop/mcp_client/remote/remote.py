"""Adapter of the SDK's transports for servers of the types ``http`` and ``sse``.

- The service opens no connection itself: each is opened by the agent helper, with the agent's user
  and from the agent's network (`agent_network`), so a server is reached only if commands reach it.
  Names are resolved there too. In a desktop that is let out by a proxy only, the proxy is used that
  commands have in their environment (`proxies`).
- TLS is on top of that in the service, with the certificates of the system.
- A redirect is followed within the origin that a person has approved, and no further (a rule of the
  SDK): headers may contain credentials for it.
- ``${VAR}`` in the values of headers is a variable of commands, never one of the service.
- When the connection ends, so do the session on the server and all sockets.
"""

import logging
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from deskhand.desktop.mcp_client.ports import Connect
from deskhand.desktop.mcp_client.server_entry import ServerEntry
from deskhand.desktop.mcp_client.server_program import LONGEST_LINE
from deskhand.desktop.mcp_client.session import INITIALIZE_SECONDS, SdkConnection, Streams
from deskhand.desktop.mcp_client.variables import expanded

from .server_link import ServerLink

# It logs addresses, whose query may contain a credential.
logging.getLogger("httpx2").setLevel(logging.WARNING)
# It logs a trace when a server disconnects, which the state of the server reports.
logging.getLogger("mcp.client").setLevel(logging.CRITICAL)

NO_LIMIT: Final = httpx2.Timeout(None)
"""The link has limits of its own for each method."""


async def connect_remote(
    entry: ServerEntry,
    connect: Connect,
    environment: Mapping[str, str],
    version: str,
    initialize_seconds: float = INITIALIZE_SECONDS,
    tls: Callable[[], ssl.SSLContext] = ssl.create_default_context,
) -> SdkConnection:
    """Initialize a connection; on failure all of it is closed. ``environment`` is of commands.

    Raises:
        ServerFailed: If that fails.
    """
    headers = expanded(entry.headers, environment)
    link = ServerLink("sse" if entry.transport == "sse" else "http", connect, environment, tls)
    streams = _over_sse if entry.transport == "sse" else _over_http
    connection = SdkConnection(
        lambda: streams(entry.url, headers, link),
        *(version, lambda: link.broken, initialize_seconds),
    )
    link.on_broken = connection.end
    await connection.opened()
    return connection


@asynccontextmanager
async def _over_http(
    url: str, headers: Mapping[str, str], link: ServerLink
) -> AsyncIterator[Streams]:
    async with (
        _client(headers, link) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=LONGEST_LINE) as streams,
    ):
        yield streams


@asynccontextmanager
async def _over_sse(
    url: str, headers: Mapping[str, str], link: ServerLink
) -> AsyncIterator[Streams]:
    def client(**_: Any) -> httpx2.AsyncClient:
        return _client(headers, link)

    make: Callable[..., httpx2.AsyncClient] = client
    async with sse_client(url, httpx_client_factory=make) as streams:
        yield streams


def _client(headers: Mapping[str, str], link: ServerLink) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=link,
        # Neither proxies nor credentials of the service's own environment.
        trust_env=False,
        timeout=NO_LIMIT,
        headers={**headers, "Accept-Encoding": "identity"},
    )
