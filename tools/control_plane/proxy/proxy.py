"""Carries requests and WebSockets to the desktop services behind the control plane."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

import httpx2
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.tools.control_plane.caller import principal_name, principal_scopes
from deskhand.tools.control_plane.errors import ChatHasNoDesktop
from deskhand.tools.control_plane.http_errors import FAMILIES, answer
from deskhand.tools.control_plane.ports import Chats, Desktops, Service
from deskhand.tools.control_plane.untrusted_content import passed
from deskhand.vncbridge.auth.middleware import refuse_websocket
from deskhand.vncbridge.auth.policy import Denial
from deskhand.vncbridge.auth.scopes import desktop_role
from deskhand.vncbridge.errors import ClientGone
from deskhand.vncbridge.http.disconnect import disconnected, run_unless
from deskhand.vncbridge.websocket.tunnel import tunnel

from .rules import ProxyRules, has_body, header, query, rules_for, to_client, to_desktop

_log = logging.getLogger(__name__)

UNAUTHORIZED = 401
VNC = "/api/v0/desktop/vnc"
GIT_WATCH = "/api/v0/git/watch?chat_id="


class DesktopProxy:
    """The ASGI application under ``/api/v0/desktops/{id}/``; as fast as its slower side."""

    def __init__(self, desktops: Desktops) -> None:
        self._desktops = desktops

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request or WebSocket on."""
        if scope["type"] == "websocket":
            try:
                rules, service = self._find(scope)
            except FAMILIES as error:
                await _refuse(error, scope, receive, send)
                return
            await _carry(service, _target(rules, scope), scope, receive, send)
            return
        rules, service = self._find(scope)
        upload = _Upload(receive, expected=has_body(scope["headers"]))
        try:
            await run_unless(_exchange(service, rules, scope, upload, send), upload.abandoned())
        except ClientGone:
            _log.debug("the client left %s", rules.path)

    def _find(self, scope: Scope) -> tuple[ProxyRules, Service]:
        rules = rules_for(scope["raw_path"])
        return rules, self._desktops.client(rules.desktop_id)


class ChatDesktop:
    """The ASGI application that carries a stream of the desktop which a chat works on.

    ``target`` returns, by the chat's id, which one.
    """

    def __init__(
        self, chats: Chats, desktops: Desktops, target: Callable[[str], str] = lambda _: VNC
    ) -> None:
        self._chats = chats
        self._desktops = desktops
        self._target = target

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Carry the desktop's stream, or say why there is none."""
        try:
            chat = await self._chats.get(scope["path_params"]["chat_id"])
            if chat.desktop_id is None:
                raise ChatHasNoDesktop
            service = self._desktops.client(chat.desktop_id)
        except FAMILIES as error:
            await _refuse(error, scope, receive, send)
            return
        target = _with_query(self._target(chat.id), scope, chat.desktop_id)
        await _carry(service, target, scope, receive, send)


def routes(chats: Chats, desktops: Desktops) -> list[BaseRoute]:
    """Return the routes of both, for the application's router."""
    below = "/api/v0/desktops/{desktop_id}/{rest:path}"
    through = DesktopProxy(desktops)
    watching = ChatDesktop(chats, desktops, lambda chat_id: GIT_WATCH + chat_id)
    return [
        WebSocketRoute("/api/v0/chats/{chat_id}/desktop", ChatDesktop(chats, desktops)),
        WebSocketRoute("/api/v0/chats/{chat_id}/git/watch", watching),
        WebSocketRoute(below, through),
        Route(below, through, include_in_schema=False),
    ]


class _Upload:
    """A request's body on its way, and the news that its sender left."""

    def __init__(self, receive: Receive, *, expected: bool) -> None:
        self._receive = receive
        self._read = asyncio.Event()
        self.expected = expected
        if not expected:
            self._read.set()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives, the next piece when the last was sent on."""
        while not self._read.is_set():
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            if not message.get("more_body", False):
                self._read.set()
            yield message.get("body", b"")

    async def abandoned(self) -> None:
        """Return when the client is gone; only one may read at a time, so after the body."""
        await self._read.wait()
        await disconnected(self._receive)


async def _exchange(
    service: Service, rules: ProxyRules, scope: Scope, upload: _Upload, send: Send
) -> None:
    async with service.stream(
        scope["method"],
        _target(rules, scope),
        headers=to_desktop(
            scope["headers"],
            name=principal_name(scope),
            role=desktop_role(principal_scopes(scope), rules.desktop_id),
        ),
        content=upload.chunks() if upload.expected else None,
    ) as reply:
        if reply.status_code == UNAUTHORIZED:
            # A browser would take it for the end of its own session.
            raise DesktopRefused(UNAUTHORIZED, "It does not know the control plane's token.")
        await _start(reply, send)
        try:
            async with aclosing(reply.aiter_raw()) as chunks:
                async for chunk in chunks:
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except httpx2.TransportError as error:
            # The status is out: only a cut connection still tells the client.
            _log.warning("the desktop broke off its answer to %s: %s", rules.path, error)
            return
    await send({"type": "http.response.body", "body": b""})


async def _start(reply: httpx2.Response, send: Send) -> None:
    headers = to_client(reply.headers.raw)
    safe = passed(header(headers, "content-type"), reply.headers.get("content-disposition", ""))
    await send(
        {
            "type": "http.response.start",
            "status": reply.status_code,
            "headers": [
                (key.lower().encode("latin-1"), value.encode("latin-1"))
                for key, value in (*headers, *safe.items())
            ],
        }
    )


async def _carry(service: Service, target: str, scope: Scope, receive: Receive, send: Send) -> None:
    """Open the desktop's side first: a client whose desktop is away gets a plain HTTP answer."""
    browser = WebSocket(scope, receive, send)
    try:
        async with service.websocket(target, scope.get("subprotocols", [])) as upstream:
            await browser.accept(upstream.subprotocol)
            await tunnel(browser, upstream)
    except DesktopRefused as error:
        # What the desktop says of its own stream is said as it is, but for its opinion of us.
        if error.status == UNAUTHORIZED:
            await _refuse(error, scope, receive, send)
        else:
            said = Denial(error.status, error.message, error.detail)
            await refuse_websocket(scope, receive, send, said)
    except DesktopUnavailable as error:
        await _refuse(error, scope, receive, send)


async def _refuse(error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
    found = answer(error)
    await refuse_websocket(scope, receive, send, Denial(found.status, found.message, found.detail))


def _target(rules: ProxyRules, scope: Scope) -> str:
    if scope["type"] == "websocket":
        return _with_query(rules.path, scope, rules.desktop_id)
    return _joined(rules.path, query(scope["query_string"]))


def _with_query(path: str, scope: Scope, desktop_id: str) -> str:
    """Return where a WebSocket goes: a watcher's role is said by us, and last."""
    parameters = query(scope["query_string"])
    if desktop_role(principal_scopes(scope), desktop_id) == "view":
        parameters = f"{parameters}&role=view" if parameters else "role=view"
    return _joined(path, parameters)


def _joined(path: str, parameters: str) -> str:
    if not parameters:
        return path
    return f"{path}{'&' if '?' in path else '?'}{parameters}"
