"""The last word to whoever still waits for an answer when a service ends."""

import asyncio
from collections.abc import Callable

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ENDING = {"message": "The service is shutting down."}


class ShutdownResponse:
    """ASGI middleware: a request that the end breaks off is answered 503, not with an error.

    ``ending`` tells whether the end was asked for. Whose answer has begun gets no other one.
    """

    def __init__(self, app: ASGIApp, ending: Callable[[], bool]) -> None:
        self._app = app
        self._ending = ending

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the application does, for as long as it may."""
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except asyncio.CancelledError:
            if begun or scope["type"] != "http" or not self._ending():
                raise
            await JSONResponse(ENDING, 503, {"Retry-After": "1"})(scope, receive, send)
