"""The WebSocket ``GET /api/v0/live`` of pages.

Browsers open six HTTP/1.1 connections to one host for all tabs together, so that the seventh page
with an event stream would never load. WebSockets do not count among them: each page opens one, and
subscribes to topics. Access control is that of all routes (Host, Origin, cookie or ticket); the
scope is checked for each topic.

After a disconnect a page subscribes again with the id of the last event that it has, and misses
none. If the events since then are not kept any more, or another control plane gave the id, it is
asked to read again. A page that reads slowly loses pictures and never an event.
"""

import asyncio

from fastapi import APIRouter, WebSocket

from deskhand.vncbridge.auth.policy import Principal
from deskhand.vncbridge.http.lazy_routes import LazyRouter
from deskhand.vncbridge.websocket.client_stream import (
    NORMAL,
    TRY_AGAIN_LATER,
    ClientStream,
    CloseReason,
)

from .connection import LiveConnection, LiveSources

MOST_PAGES = 1000
"""Sockets at once; each keeps its messages until they are read."""

FULL = CloseReason(TRY_AGAIN_LATER, "Too many pages are open.")
GOING_AWAY = CloseReason(1001, "The service ends.")


def router(sources: LiveSources, closing: asyncio.Event, most: int = MOST_PAGES) -> APIRouter:
    """Return the route; ``closing`` ends all sockets, of which there are at most ``most``."""
    routes = LazyRouter(tags=["events"])
    pages = set[ClientStream]()

    @routes.websocket("/api/v0/live")
    async def live(websocket: WebSocket) -> None:
        principal: Principal = websocket.scope["state"]["principal"]
        await websocket.accept()
        stream = ClientStream(websocket)
        if len(pages) >= most:
            await stream.close(FULL)
            return
        pages.add(stream)
        serving = asyncio.ensure_future(LiveConnection(sources, principal, stream).run())
        ending = asyncio.ensure_future(closing.wait())
        try:
            await asyncio.wait({serving, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not serving.done():
                await stream.close(GOING_AWAY)
            elif (reason := serving.result()).code != NORMAL:
                await stream.close(reason)
        finally:
            pages.remove(stream)
            for task in (serving, ending):
                task.cancel()
            await asyncio.gather(serving, ending, return_exceptions=True)

    return routes
