"""Reverse proxy: forwards requests and WebSockets to the desktop services.

The client talks to the control plane alone, with its credential, origin and TLS. A desktop service
trusts only the control plane's token. What passes in each direction is decided in :mod:`.rules`.

- Bodies are streamed in both directions, one chunk in memory at a time, so that the faster side
  waits for the slower one.
- A client that leaves ends the request at the desktop service too, also while that is waiting.
- A response of the desktop that breaks off breaks off for the client: the last chunk is not sent,
  and no error page is appended to a half file.
- A WebSocket is opened to the desktop first. While that is not done, the client can still get an
  HTTP response with a message, which a browser's code can read; a close code cannot carry one.
- A 401 of the desktop service is an error of the control plane (502), not of the client. Passed on,
  it would make a browser sign the person out.
"""

import logging
from collections.abc import Callable
from contextlib import aclosing
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from deskhand.desktop.client.http1.open_reply import OpenReply
from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.tools.control_plane.caller import principal_name, principal_scopes, signed_in_name
from deskhand.tools.control_plane.errors import ChatHasNoDesktop
from deskhand.tools.control_plane.http_errors import FAMILIES, answer
from deskhand.tools.control_plane.ports import Chats, Desktops, Service
from deskhand.tools.control_plane.untrusted_content import passed
from deskhand.vncbridge.auth.middleware import refuse_websocket
from deskhand.vncbridge.auth.policy import BASE_PATH, Denial
from deskhand.vncbridge.auth.scopes import desktop_role
from deskhand.vncbridge.errors import ClientGone
from deskhand.vncbridge.http.disconnect import run_unless
from deskhand.vncbridge.http.request_body import RequestBody
from deskhand.vncbridge.websocket.tunnel import tunnel

from .rules import ProxyRules, has_body, query, rules_for, to_client, to_desktop

_log = logging.getLogger(__name__)

UNAUTHORIZED = 401
VNC = "/api/v0/desktop/vnc"
GIT_WATCH = "/api/v0/git/watch?chat_id="


class DesktopProxy:
    """ASGI application under ``/api/v0/desktops/{id}/``: forwards to the service of one desktop."""

    def __init__(self, desktops: Desktops) -> None:
        self._desktops = desktops

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward one request or WebSocket."""
        if scope["type"] == "websocket":
            try:
                rules, service = await self._find(scope)
            except FAMILIES as error:
                await _refuse(error, scope, receive, send)
                return
            await _tunnel(service, _target(rules, scope), scope, receive, send)
            return
        rules, service = await self._find(scope)
        upload = RequestBody(receive, expected=has_body(scope["headers"]))
        try:
            await run_unless(_exchange(service, rules, scope, upload, send), upload.abandoned())
        # No response is due: its reader is gone.
        except ClientGone:
            _log.debug("the client left %s", rules.path)

    async def _find(self, scope: Scope) -> tuple[ProxyRules, Service]:
        rules = rules_for(scope["raw_path"])
        await self._desktops.locate(rules.desktop_id)
        return rules, self._desktops.client(rules.desktop_id)


class ChatDesktop:
    """ASGI application that tunnels a WebSocket to the desktop on which a chat works.

    ``target`` returns the path on the desktop service for a chat's id.
    """

    def __init__(
        self, chats: Chats, desktops: Desktops, target: Callable[[str], str] = lambda _: VNC
    ) -> None:
        self._chats = chats
        self._desktops = desktops
        self._target = target

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Tunnel the WebSocket, or refuse it with the reason."""
        try:
            chat = await self._chats.get(scope["path_params"]["chat_id"])
            if chat.desktop_id is None:
                raise ChatHasNoDesktop
            await self._desktops.locate(chat.desktop_id)
            service = self._desktops.client(chat.desktop_id)
        except FAMILIES as error:
            await _refuse(error, scope, receive, send)
            return
        target = _with_query(self._target(chat.id), scope, chat.desktop_id)
        await _tunnel(service, target, scope, receive, send)


def routes(chats: Chats, desktops: Desktops) -> list[BaseRoute]:
    """Return the routes of both applications."""
    desktop_path = "/api/v0/desktops/{desktop_id}/{rest:path}"
    forwarding = DesktopProxy(desktops)
    git_watch = ChatDesktop(chats, desktops, lambda chat_id: GIT_WATCH + chat_id)
    return [
        WebSocketRoute("/api/v0/chats/{chat_id}/desktop", ChatDesktop(chats, desktops)),
        WebSocketRoute("/api/v0/chats/{chat_id}/git/watch", git_watch),
        WebSocketRoute(desktop_path, forwarding),
        # Starlette limits a function to GET and HEAD, but leaves the methods to an ASGI
        # application.
        Route(desktop_path, forwarding, include_in_schema=False),
    ]


async def _exchange(
    service: Service, rules: ProxyRules, scope: Scope, upload: RequestBody, send: Send
) -> None:
    async with service.stream(
        scope["method"],
        _target(rules, scope),
        headers=to_desktop(
            scope["headers"],
            name=principal_name(scope),
            role=desktop_role(principal_scopes(scope), rules.desktop_id),
            base=_base(rules, scope),
            person=signed_in_name(scope),
        ),
        # A body of ``None`` sends no ``Transfer-Encoding``, which a GET should not have.
        content=upload.chunks() if upload.expected else None,
    ) as reply:
        if reply.status == UNAUTHORIZED:
            # A browser would take a 401 for the end of its own session.
            raise DesktopRefused(UNAUTHORIZED, "It does not know the control plane's token.")
        await _send_head(reply, send)
        try:
            async with aclosing(reply.chunks()) as chunks:
                async for chunk in chunks:
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except DesktopUnavailable as error:
            # The status was sent: only a response without its end shows the client the failure.
            _log.warning("the desktop broke off its answer to %s: %s", rules.path, error)
            return
    await send({"type": "http.response.body", "body": b""})


async def _send_head(reply: OpenReply, send: Send) -> None:
    headers = to_client(reply.fields)
    safe = passed(reply.header("content-type"), reply.header("content-disposition"))
    await send(
        {
            "type": "http.response.start",
            "status": reply.status,
            "headers": [
                (key.lower().encode("latin-1"), value.encode("latin-1"))
                for key, value in (*headers, *safe.items())
            ],
        }
    )


async def _tunnel(
    service: Service, target: str, scope: Scope, receive: Receive, send: Send
) -> None:
    """Connect to the desktop, then accept the client's WebSocket and relay both directions."""
    browser = WebSocket(scope, receive, send)
    try:
        async with service.websocket(target, scope.get("subprotocols", [])) as upstream:
            await browser.accept(upstream.subprotocol)
            await tunnel(browser, upstream)
    except DesktopRefused as error:
        # A refusal is passed on unchanged, except one of the control plane's own token.
        if error.status == UNAUTHORIZED:
            await _refuse(error, scope, receive, send)
        else:
            denial = Denial(error.status, error.message, error.detail)
            await refuse_websocket(scope, receive, send, denial)
    except DesktopUnavailable as error:
        await _refuse(error, scope, receive, send)


async def _refuse(error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
    response = answer(error)
    await refuse_websocket(
        scope, receive, send, Denial(response.status, response.message, response.detail)
    )


def _base(rules: ProxyRules, scope: Scope) -> str:
    """Return the address of the desktop's routes for WebSockets."""
    scheme = "wss" if scope["scheme"] == "https" else "ws"
    # The access policy has refused requests without exactly one host.
    host = Headers(scope=scope).get("host", "")
    base = scope.get(BASE_PATH, "")
    return f"{scheme}://{host}{base}/api/v0/desktops/{rules.desktop_id}/desktop"


def _target(rules: ProxyRules, scope: Scope) -> str:
    if scope["type"] == "websocket":
        return _with_query(rules.path, scope, rules.desktop_id)
    return _joined(rules.path, query(scope["query_string"]))


def _with_query(path: str, scope: Scope, desktop_id: str) -> str:
    """Return the target of a WebSocket, with the role of a caller who may only view, and the name.

    These are the last parameters: of repeated ones the desktop service takes the last.
    """
    parameters = query(scope["query_string"])
    if desktop_role(principal_scopes(scope), desktop_id) == "view":
        parameters = f"{parameters}&role=view" if parameters else "role=view"
    if person := signed_in_name(scope):
        named = f"name={quote(person, safe='')}"
        parameters = f"{parameters}&{named}" if parameters else named
    return _joined(path, parameters)


def _joined(path: str, parameters: str) -> str:
    if not parameters:
        return path
    return f"{path}{'&' if '?' in path else '?'}{parameters}"
