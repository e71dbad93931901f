"""Forwarding to the desktops of a node: ``/desktops/{id}/api/v0/...`` and ``.../healthz``.

Nothing is parsed beyond what is needed to find the desktop: the control plane has decided what may
pass. Bodies are streamed both ways. A control plane that leaves ends its request at the desktop; an
answer that breaks off breaks off for the control plane.
"""

import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Protocol

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket
from websockets.asyncio.client import ClientConnection

from deskhand.desktop.client.http1.open_reply import OpenReply
from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.tools.fleet.errors import UnknownDesktop
from deskhand.vncbridge.errors import ClientGone
from deskhand.vncbridge.http.disconnect import disconnected, run_unless
from deskhand.vncbridge.http.request_body import RequestBody
from deskhand.vncbridge.websocket.tunnel import tunnel

from .answers import refuse
from .headers import content_length, to_desktop, to_plane

_log = logging.getLogger(__name__)

SMALL = 64 * 1024
"""Bytes of content of a request that is received before it is sent on."""
UNAUTHORIZED = 401
_API = b"api/v0/"
_HEALTH = b"healthz"


class ForwardingClient(Protocol):
    """The client of one desktop, as far as requests are forwarded by it."""

    def stream(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | AsyncGenerator[bytes, None] | None = None,
    ) -> AbstractAsyncContextManager[OpenReply]:
        """Send a request, and return its answer with the content to be read."""

    def websocket(
        self,
        path: str,
        subprotocols: Sequence[str] = (),
        *,
        headers: Mapping[str, str] | None = None,
    ) -> AbstractAsyncContextManager[ClientConnection]:
        """Open a WebSocket."""


Clients = Callable[[str], ForwardingClient]
"""Returns the client of a desktop by its id, or raises `UnknownDesktop`."""


def forwards(raw_path: bytes) -> bool:
    """Return whether a path is one of a desktop."""
    parts = raw_path.split(b"/", 3)
    if len(parts) < 4 or parts[1] != b"desktops":
        return False
    return parts[3].startswith(_API) or parts[3] == _HEALTH


class DesktopForwarding:
    """ASGI application for the paths of desktops."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward one request or WebSocket."""
        _, _, name, path = scope["raw_path"].decode("latin-1").split("/", 3)
        query = scope["query_string"].decode("latin-1")
        target = f"/{path}?{query}" if query else f"/{path}"
        try:
            client = self._clients(name)
            if scope["type"] == "websocket":
                headers = to_desktop(scope["headers"])
                await forward_websocket(client, target, scope, receive, send, headers)
            else:
                await _forward_request(client, target, scope, receive, send)
        except (UnknownDesktop, DesktopUnavailable) as error:
            await refuse(error, scope, receive, send)
        # No response is due: its reader is gone.
        except ClientGone:
            _log.debug("the control plane has left %s", path)


async def forward_websocket(
    client: ForwardingClient,
    target: str,
    scope: Scope,
    receive: Receive,
    send: Send,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Connect to a desktop, then accept the WebSocket and relay both directions.

    Raises:
        DesktopUnavailable: If it does not answer.
    """
    near = WebSocket(scope, receive, send)
    try:
        opening = client.websocket(target, scope.get("subprotocols", []), headers=headers)
        async with opening as far:
            await near.accept(far.subprotocol)
            await tunnel(near, far)
    except DesktopRefused as error:
        if error.status == UNAUTHORIZED:
            raise DesktopUnavailable("it does not know the token of its node") from error
        body = {"message": error.message, "detail": error.detail, "code": error.code}
        await JSONResponse(body, error.status)(scope, receive, send)


async def _forward_request(
    client: ForwardingClient, target: str, scope: Scope, receive: Receive, send: Send
) -> None:
    length = content_length(scope["headers"])
    if length is not None and length <= SMALL:
        content = await _whole(receive) if length else None
        await run_unless(_exchange(client, target, scope, content, send), disconnected(receive))
        return
    upload = RequestBody(receive)
    work = _exchange(client, target, scope, upload.chunks(), send)
    await run_unless(work, upload.abandoned())


async def _exchange(
    client: ForwardingClient,
    target: str,
    scope: Scope,
    content: bytes | AsyncGenerator[bytes, None] | None,
    send: Send,
) -> None:
    headers = to_desktop(scope["headers"])
    async with client.stream(scope["method"], target, headers=headers, content=content) as reply:
        if reply.status == UNAUTHORIZED:
            # Passed on, it would look like the end of the control plane's own credential.
            raise DesktopUnavailable("it does not know the token of its node")
        head = {"status": reply.status, "headers": to_plane(reply.fields)}
        await send({"type": "http.response.start", **head})
        try:
            async with aclosing(reply.chunks()) as chunks:
                async for chunk in chunks:
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except DesktopUnavailable as error:
            # The status was sent: only an answer without its end shows the failure.
            _log.warning("a desktop broke off its answer to %s: %s", target, error)
            return
    await send({"type": "http.response.body", "body": b""})


async def _whole(receive: Receive) -> bytes:
    return b"".join([chunk async for chunk in RequestBody(receive).chunks()])
