"""The route of the browser toolset."""

import hashlib
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import JSONResponse

from deskhand.desktop.actions.requests import decode
from deskhand.desktop.actions.schema import json_body
from deskhand.desktop.errors import DesktopRefused
from deskhand.desktop.http_errors import answered, refusal
from deskhand.desktop.own_api.own_api import OwnApi
from deskhand.desktop.tool_calls.schema import CALL_HEADERS
from deskhand.vncbridge.errors import ClientGone
from deskhand.vncbridge.http.disconnect import disconnected, run_unless
from deskhand.vncbridge.http.lazy_routes import LazyRouter
from deskhand.vncbridge.openapi.schemas import component

from .errors import BrowserCallFailed
from .members import MEMBERS, member_call
from .pages import BrowserPages
from .schema import SCHEMA

Json = dict[str, Any]
Answer = tuple[int, Json]
Once = Callable[
    [Mapping[str, str], str, Callable[[], Coroutine[Any, Any, Answer]]],
    Coroutine[Any, Any, Answer],
]

PATH = "/api/v0/desktop/browser"
_CLIENT_CLOSED_REQUEST = 499


def router(pages: BrowserPages, own_api: OwnApi, once: Once) -> APIRouter:
    """Return the route; ``once`` executes the call of a tool call id once."""
    routes = LazyRouter(tags=["desktop"])
    body = {"parameters": CALL_HEADERS, **json_body(component("BrowserCall", SCHEMA))}

    @routes.post(PATH, openapi_extra=body, responses=_ERRORS)
    async def browser(request: Request) -> JSONResponse:
        """Read or use a page of the browser, which is launched if none runs.

        An `action` is a member of Anthropic's `browser_toolset_20260801`, with its fields beside
        it. `browser_state` has the tabs after it.
        """
        with answered():
            data = await request.body()
            given = decode(data)

            async def act() -> Answer:
                try:
                    with answered():
                        return 200, await pages.call(call, caller)
                except BrowserCallFailed as error:
                    return _refused(error.status, error.message, error.code)
                except DesktopRefused as error:
                    return _refused(error.status, str(error), error.code)
                except HTTPException as error:
                    return error.status_code, _fields(error)

            try:
                call, caller = member_call(given), own_api.for_request(request.scope)
            except BrowserCallFailed as error:
                raise refusal(error.status, error.message, "", error.code) from error
            reads = MEMBERS[call.name].kind == "read"
            # Before the call is recorded: it may be repeated after a person's control.
            pages.check(call, caller.chat_id)
            digest = hashlib.sha256(data).hexdigest()
            work = act() if reads else once(request.headers, digest, act)
            try:
                status, answer = await run_unless(work, disconnected(request.receive))
            except ClientGone:
                raise HTTPException(_CLIENT_CLOSED_REQUEST, "The client went away.") from None
        if status >= 400:
            texts = (str(answer.get(name, "")) for name in ("message", "detail", "code"))
            raise refusal(status, *texts)
        return JSONResponse(answer, status)

    return routes


def _fields(error: HTTPException) -> Json:
    detail: Any = error.detail
    return dict(detail)


def _refused(status: int, message: str, code: str) -> Answer:
    return status, {"message": message, **({"code": code} if code else {})}


_ERRORS: dict[int | str, Json] = {
    400: {"description": "The call is wrong; nothing was done."},
    409: {"description": "A ref is stale, a dialog waits, or another actor has control."},
    422: {"description": "The page refused it, or its script failed."},
    501: {"description": "The browser of this desktop cannot be controlled."},
    504: {"description": "The page does not answer."},
}
