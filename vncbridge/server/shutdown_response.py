"""The response to requests that a shutdown interrupts."""

import asyncio
from collections.abc import Callable

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ENDING = {"message": "The service is shutting down."}


class ShutdownResponse:
    """ASGI middleware: a request that the shutdown cancels is answered 503, not with an error.

    ``ending`` returns whether the shutdown was requested. A response that has begun stays.
    """

    def __init__(self, app: ASGIApp, ending: Callable[[], bool]) -> None:
        self._app = app
        self._ending = ending

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application; answer for it if the shutdown cancels it."""
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
