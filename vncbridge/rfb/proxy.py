"""Proxy between the WebSockets of viewers and the RFB server.

Bytes of the server are passed on as they are; only for a viewer that shares the clipboard,
`server_messages` finds places for cut texts between them. Bytes of a client are parsed by
`messages`, and only the messages that its `ViewerSession` permits reach the server.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, Protocol

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from starlette.websockets import WebSocket

from deskhand.vncbridge.errors import BridgeError, ProtocolBroken, UpstreamUnavailable
from deskhand.vncbridge.http.lazy_routes import LazyRouter
from deskhand.vncbridge.websocket.client_stream import (
    BROKEN,
    NORMAL,
    NOT_BINARY,
    STUCK_SECONDS,
    ClientStream,
    CloseReason,
    StreamEnded,
)
from deskhand.vncbridge.websocket.tunnel import until_one_ends

from .clipboard import ViewerClipboard
from .server_connection import ServerConnection
from .viewers import PRIVATE, Viewers, ViewerSession, viewer_identity

READ_SIZE = 16 * 1024
"""Bytes of a client that are parsed before other tasks run."""
SUBPROTOCOL = "binary"
PROTOCOL_ERROR = 1002
MESSAGE_SECONDS = 30.0
"""Timeout for the rest of a message, or of the handshake."""


class Upstream(Protocol):
    """The RFB server."""

    async def open(self) -> ServerConnection:
        """Open a new connection, one for each viewer.

        Raises:
            UpstreamUnavailable: If the RFB server cannot be reached.
            BridgeError: If there is no desktop and none could be started.
        """
        ...

    async def await_focus(self) -> None:
        """Wait until the input that was sent so far has moved the keyboard focus."""
        ...


class UnixUpstream:
    """The RFB server behind a unix socket."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def open(self) -> ServerConnection:
        """Open a new connection."""
        return await ServerConnection.to(self._path)

    async def await_focus(self) -> None:
        """Return at once: an RFB server does not say what its input has moved."""


def router(
    upstream: Upstream,
    closing: Callable[[], bool],
    viewers: Viewers,
    stuck_seconds: float = STUCK_SECONDS,
    patience: float = MESSAGE_SECONDS,
    desktop: str = "",
) -> APIRouter:
    """Return the route of the VNC stream.

    ``closing`` returns whether the service is shutting down, ``patience`` is the timeout for the
    rest of a message, ``desktop`` the id of this desktop in scopes. Serve it with
    `vncbridge.server.websocket_protocol.StreamProtocol` and without permessage-deflate.
    """
    routes = LazyRouter()

    @routes.websocket("/api/v0/desktop/vnc")
    async def watch(websocket: WebSocket) -> None:
        if closing():
            return await _refuse(websocket, 503, "Desktop is shutting down.")
        if viewers.count >= viewers.most:
            detail = f"at most {viewers.most} may watch one desktop"
            return await _refuse(websocket, 429, "Too many viewers.", detail)
        principal = websocket.scope.get("state", {}).get("principal")
        identity = viewer_identity(websocket.query_params, principal, desktop)
        if not viewers.control.may_see(identity.key):
            return await _refuse(websocket, 409, PRIVATE.reason, code="human_in_control")
        # The viewer counts from before the connection, so that simultaneous handshakes stay below
        # the limit.
        with viewers.counted():
            # Connecting before the upgrade makes a failure an HTTP response, which every client can
            # read.
            try:
                server = await upstream.open()
            except UpstreamUnavailable as error:
                return await _refuse(websocket, 500, "Failed to connect to VNC server.", str(error))
            except BridgeError as error:
                return await _refuse(websocket, 500, "Failed to start desktop session.", str(error))
            try:
                offered = websocket.scope["subprotocols"]
                # RFC 6455 section 4.2.2 forbids a subprotocol that the client did not offer.
                await websocket.accept(SUBPROTOCOL if SUBPROTOCOL in offered else None)
                client = ClientStream(websocket, stuck_seconds)
                write, focus = server.write, upstream.await_focus
                with viewers.session(identity, write, focus) as session:
                    close_reason = await relay(client, server, session, patience)
                await client.close(close_reason)
            finally:
                await server.close()

    return routes


async def relay(
    client: ClientStream,
    server: ServerConnection,
    session: ViewerSession,
    patience: float = MESSAGE_SECONDS,
) -> CloseReason:
    """Copy both ways until either side closes, or the session is revoked; return the reason.

    Each direction reads again only when its last bytes were accepted: a slow viewer slows down
    only itself, and memory stays bounded.
    """

    clipboard = session.clipboard
    sending = asyncio.Lock()
    """Messages leave in the order in which the clipboard has seen them."""

    async def to_viewer() -> NoReturn:
        try:
            while chunk := await server.read():
                async with sending:
                    await client.send(chunk if clipboard is None else clipboard.insert(chunk))
        except OSError as error:
            raise _broken(error) from error
        raise StreamEnded(CloseReason(NORMAL, "The desktop ended the stream."))

    async def to_server() -> NoReturn:
        while True:
            await _pass_on(await _receive(client, session, patience), session, server)

    async def revoked() -> NoReturn:
        await session.revoked.wait()
        raise StreamEnded(PRIVATE)

    sharing = () if clipboard is None else (_share(clipboard, client, sending),)
    try:
        return await until_one_ends(to_viewer(), to_server(), revoked(), *sharing)
    except ProtocolBroken as error:
        return CloseReason(PROTOCOL_ERROR, str(error))


async def _share(
    clipboard: ViewerClipboard, client: ClientStream, sending: asyncio.Lock
) -> NoReturn:
    while True:
        await clipboard.wait()
        async with sending:
            if waiting := clipboard.idle():
                await client.send(waiting)


async def _receive(client: ClientStream, session: ViewerSession, patience: float) -> bytes:
    try:
        # Between messages a viewer may be silent for ever; pings detect one that is lost.
        async with asyncio.timeout(patience if session.mid_message else None):
            message = await client.receive()
    except TimeoutError:
        reason = f"The rest of a message did not come for {patience:g} s."
        raise StreamEnded(CloseReason(PROTOCOL_ERROR, reason)) from None
    if isinstance(message, str):
        raise StreamEnded(NOT_BINARY)
    return message


async def _pass_on(data: bytes, session: ViewerSession, server: ServerConnection) -> None:
    for start in range(0, len(data), READ_SIZE):
        await session.receive(data[start : start + READ_SIZE])
        try:
            await server.drain()
        except OSError as error:
            raise _broken(error) from error
        if len(data) > READ_SIZE:
            # `drain` does not suspend while the buffer has room, so a long message would block
            # other tasks.
            await asyncio.sleep(0)


def _broken(error: OSError) -> StreamEnded:
    return StreamEnded(CloseReason(BROKEN, f"The desktop's stream broke: {error.strerror}."))


async def _refuse(
    websocket: WebSocket, status: int, message: str, detail: str = "", code: str = ""
) -> None:
    fields = {"message": message, "detail": detail, "code": code}
    body = {name: text for name, text in fields.items() if text}
    await websocket.send_denial_response(JSONResponse(body, status))
