"""ASGI middleware that answers requests whose credential cannot be checked in the database.

Access control is outside of the error handlers of the application, so a fault that it meets would
be a response with the status 500.
"""

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deskhand.tools.control_plane.http_errors import answer
from deskhand.tools.store.errors import StoreUnavailable
from deskhand.vncbridge.auth.middleware import refuse_websocket
from deskhand.vncbridge.auth.policy import Denial


class StoreFaultMiddleware:
    """Answers with 503 where the database cannot be read before the application is reached."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to access control."""
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except StoreUnavailable as error:
            if begun or scope["type"] == "lifespan":
                raise
            response = answer(error)
            if scope["type"] == "websocket":
                denial = Denial(response.status, response.message, response.detail)
                await refuse_websocket(scope, receive, send, denial)
                return
            body = JSONResponse(response.to_json(), response.status, response.headers)
            await body(scope, receive, send)
