"""WebSocket that reports changes in a chat's repositories."""

import asyncio
import json
from contextlib import aclosing
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from starlette.websockets import WebSocket, WebSocketDisconnect

from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .watcher import Watcher

MOST = 64
"""Maximum of open connections."""


def router(watcher: Watcher, most: int = MOST) -> APIRouter:
    """Return the route."""
    routes = LazyRouter(prefix="/api/v0", tags=["git"])
    listeners: set[WebSocket] = set()

    @routes.websocket("/git/watch")
    async def watch(socket: WebSocket) -> None:
        """Send changes of the repositories in which the chat has touched files."""
        chat_id = _chat(socket.query_params.get("chat_id", ""))
        if chat_id is None:
            body = {"message": "chat_id must be a valid UUID."}
            await socket.send_denial_response(JSONResponse(body, 400))
            return
        if len(listeners) >= most:
            body = {"message": f"At most {most} listeners are served at once."}
            await socket.send_denial_response(JSONResponse(body, 429))
            return
        listeners.add(socket)
        try:
            await socket.accept()
            await _serve(socket, watcher, chat_id)
        finally:
            listeners.discard(socket)

    return routes


async def _serve(socket: WebSocket, watcher: Watcher, chat_id: str) -> None:
    refresh = asyncio.Event()
    sending = asyncio.create_task(_send(socket, watcher, chat_id, refresh))
    receiving = asyncio.create_task(_receive(socket, refresh))
    try:
        await asyncio.wait({sending, receiving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (sending, receiving):
            task.cancel()
        results = await asyncio.gather(sending, receiving, return_exceptions=True)
    for result in results:
        # The cancelled task returns a CancelledError, which is no Exception: one task ends with the
        # other.
        if isinstance(result, Exception) and not isinstance(result, WebSocketDisconnect):
            raise result


async def _send(socket: WebSocket, watcher: Watcher, chat_id: str, refresh: asyncio.Event) -> None:
    async with aclosing(watcher.changes(chat_id, refresh)) as changes:
        async for message in changes:
            await socket.send_text(message)


async def _receive(socket: WebSocket, refresh: asyncio.Event) -> None:
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        if _kind(message.get("text") or "") == "refresh":
            refresh.set()
        else:
            await socket.send_json({"type": "error", "message": "unknown message type"})


def _kind(text: str) -> object:
    try:
        message = json.loads(text)
    except ValueError:
        return None
    return message.get("type") if isinstance(message, dict) else None


def _chat(text: str) -> str | None:
    try:
        return str(UUID(text))
    except ValueError:
        return None
