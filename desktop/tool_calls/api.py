"""ASGI middleware that refuses requests of a control plane that drives the chat no longer."""

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from deskhand.vncbridge.http import caller_headers

from .errors import CallRefused, MalformedCall
from .generations import Generations, generation_of

_NAMES = tuple(
    f"{prefix}{caller_headers.GENERATION}".encode() for prefix in caller_headers.PREFIXES
)


class GenerationFence:
    """Answers 409 with the code ``stale_driver`` to requests under an older generation."""

    def __init__(self, app: ASGIApp, generations: Generations) -> None:
        self._app = app
        self._generations = generations

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application, or refuse it."""
        if scope["type"] == "http" and any(name in _NAMES for name, _ in scope["headers"]):
            headers = Headers(scope=scope)
            try:
                chat = caller_headers.value(headers, caller_headers.CHAT)
                self._generations.admit(chat, generation_of(headers))
            except (CallRefused, MalformedCall) as error:
                await _refusal(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _refusal(error: CallRefused | MalformedCall) -> JSONResponse:
    body = {"message": error.message}
    if error.detail:
        body["detail"] = error.detail
    if isinstance(error, MalformedCall):
        return JSONResponse(body, 400)
    return JSONResponse({**body, "code": error.code}, 409)
