"""The VNC routes of a desktop without a live view: every request is refused."""

from fastapi import APIRouter, HTTPException
from starlette.websockets import WebSocket

from deskhand.vncbridge.auth.middleware import refuse_websocket
from deskhand.vncbridge.auth.policy import Denial
from deskhand.vncbridge.http.lazy_routes import LazyRouter


def router(reason: str) -> APIRouter:
    """Return the route of the VNC stream, which always refuses; ``reason`` is a sentence."""
    refusal = Denial(409, "This desktop has no live view.", reason)
    routes = LazyRouter()

    @routes.websocket("/api/v0/desktop/vnc")
    async def watch(websocket: WebSocket) -> None:
        await refuse_websocket(websocket.scope, websocket.receive, websocket.send, refusal)

    @routes.get("/api/v0/desktop/vnc", tags=["desktop"])
    async def vnc() -> None:
        """Always 409: this desktop has no live view."""
        raise HTTPException(409, {"message": refusal.message, "detail": refusal.detail})

    return routes
