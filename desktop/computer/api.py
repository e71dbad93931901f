"""The desktop's HTTP routes: status, screenshot, actions."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import cache
from typing import Any, NamedTuple, TypeVar

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import JSONResponse

from deskhand.desktop.actions.requests import action_request, batch_request, decode, picture_of
from deskhand.desktop.actions.schema import (
    action_schema,
    batch_schema,
    query_parameters,
    screenshot_parameters,
    sized,
)
from deskhand.desktop.actions.screenshot_query import LONGEST_WAIT, screenshot_request, without_wait
from deskhand.desktop.fields import Json
from deskhand.desktop.geometry import Size, Space
from deskhand.desktop.http_errors import answered, refusal
from deskhand.desktop.screenshots.etags import etags
from deskhand.desktop.tool_calls.caller import COMPUTER, TOOL, Caller, caller_of, instance_of
from deskhand.desktop.tool_calls.once import OncePerCall
from deskhand.desktop.tool_calls.schema import CALL_HEADERS
from deskhand.vncbridge.errors import ClientGone
from deskhand.vncbridge.http.disconnect import disconnected, run_unless
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .changed_picture import changed_picture
from .computer import Computer
from .outcomes import ScreenshotResult
from .responder import ActionResponder, action_digest

T = TypeVar("T")

PREFIX = "/api/v0/desktop"
# No client reads this status: nginx logs 499 for a client that closed the connection.
_CLIENT_CLOSED_REQUEST = 499
_WAIT = query_parameters(
    {
        "wait": {
            "type": "number",
            "minimum": 0,
            "maximum": LONGEST_WAIT,
            "description": "Seconds to wait for a picture other than that of If-None-Match.",
        }
    }
)
_ENDING = ("Desktop API is shutting down.", "the request was cancelled and its input released")


def router(
    computer: Computer,
    status: Callable[[], Json],
    once: OncePerCall,
    refs: Callable[[Json], Json] = lambda body: body,
    closing: asyncio.Event | None = None,
) -> APIRouter:
    """Return the routes of one computer.

    ``status`` returns the body of the status route, ``once`` prevents a second execution of a
    call, ``refs`` replaces a body's widget refs by points. Set ``closing`` at shutdown: the
    requests that wait are answered 503.
    """
    ending = closing or asyncio.Event()
    described = descriptions(computer.size)
    routes = LazyRouter(prefix=PREFIX, tags=["desktop"])
    _add_pointer(routes, computer)
    _add_screenshot(routes, computer, ending)

    @routes.get("")
    async def desktop_status() -> Json:
        """What this desktop is and how it is.

        `session.browser` has the `program` and, if it does not start, the `refusal`;
        `session.browser_sandbox` has the `setting`, `on`, and the `reason` if it cannot work.
        """
        return status()

    @routes.post("/action", openapi_extra=described.action, responses=_ERRORS)
    async def action(request: Request) -> Response:
        """Do one thing, and with `observe` look at what became of it.

        A repeated `Deskhand-Tool-Call-Id` is answered from what was recorded, never done again.
        """
        with answered():
            body = decode(await request.body())
            reply = ActionResponder(
                computer, action_request(refs(body), computer.size), _caller(request)
            )
            return await _done_once(request, body, reply, once, ending)

    @routes.post("/actions", openapi_extra=described.batch, responses=_ERRORS)
    async def actions(request: Request) -> Response:
        """Do several things in order, up to the first that fails; look once at the end."""
        with answered():
            body = decode(await request.body())
            reply = ActionResponder(
                computer, batch_request(refs(body), computer.size), _caller(request)
            )
            return await _done_once(request, body, reply, once, ending)

    return routes


def _add_pointer(routes: APIRouter, computer: Computer) -> None:
    @routes.get("/pointer", responses={503: _ERRORS[503]})
    async def pointer() -> Json:
        """Where the pointer is, in native pixels; unlike the action it needs no right to act."""
        with answered():
            found = await computer.pointer()
            return {"native_point": [found.x, found.y]}


def _add_screenshot(routes: APIRouter, computer: Computer, ending: asyncio.Event) -> None:
    @routes.head("/screenshot", include_in_schema=False)
    @routes.get(
        "/screenshot",
        response_class=Response,
        responses=_PICTURE_ANSWERS,
        openapi_extra=descriptions(computer.size).screenshot,
    )
    async def screenshot(request: Request) -> Response:
        """A picture of the screen; 304 where the caller has it already, after `wait` seconds."""
        with answered():
            query, wait = without_wait(request.query_params.multi_items())
            wanted = screenshot_request(query, computer.size)
            known = etags(",".join(request.headers.getlist("if-none-match")))
            picture = picture_of(wanted, computer.size)
            taken = await _unless_over(
                request, changed_picture(computer, picture, known, wait), ending
            )
            return _picture(taken, wanted.space)


def _caller(request: Request) -> Caller:
    return caller_of(request.headers, request.scope.get(TOOL, COMPUTER))


async def _done_once(
    request: Request, body: Json, reply: ActionResponder, once: OncePerCall, ending: asyncio.Event
) -> Response:
    digest = action_digest(request.url.path, body)
    # A request that arrives during shutdown is refused before its call is recorded, so that a
    # repeat elsewhere is safe.
    if ending.is_set():
        raise refusal(503, *_ENDING)

    answering = reply.once(once, digest, instance_of(request.headers))
    status, answer = await _unless_over(request, answering, ending)
    return JSONResponse(answer, status)


async def _unless_over(
    request: Request, answering: Coroutine[Any, Any, T], ending: asyncio.Event
) -> T:
    """Return what the coroutine does, unless the service ends or the client disconnects."""

    async def service_ends() -> None:
        await ending.wait()
        raise refusal(503, *_ENDING)

    try:
        return await run_unless(answering, service_ends(), disconnected(request.receive))
    except ClientGone:
        raise HTTPException(_CLIENT_CLOSED_REQUEST, "The client went away.") from None


def _picture(taken: ScreenshotResult, space: Space) -> Response:
    headers = {
        "ETag": f'"{taken.etag}"',
        "Cache-Control": "no-cache",
        "Deskhand-Frame-Id": taken.frame_id,
        "Deskhand-Picture-Size": f"{taken.size.width}x{taken.size.height}",
        "Deskhand-Native-Size": f"{taken.native.width}x{taken.native.height}",
        "Deskhand-Space": f"{space.name} {space.size.width}x{space.size.height}",
        "Server-Timing": ", ".join(
            f"{stage};dur={taken:.3f}" for stage, taken in taken.timings.items()
        ),
    }
    if taken.data is None:
        return Response(status_code=304, headers=headers)
    return Response(taken.data, media_type=f"image/{taken.format}", headers=headers)


class Descriptions(NamedTuple):
    """What the OpenAPI document contains of the requests that depend on the size of the screen."""

    action: Json
    batch: Json
    screenshot: Json


@cache
def descriptions(native: Size) -> Descriptions:
    """Return the descriptions for a screen; the first call takes several milliseconds."""
    screenshot = sized({"parameters": [*screenshot_parameters(), *_WAIT]}, native)
    return Descriptions(_body(action_schema(), native), _body(batch_schema(), native), screenshot)


def _body(schema: Json, native: Size) -> Json:
    content = {"application/json": {"schema": sized(schema, native)}}
    return {
        "parameters": CALL_HEADERS,
        "requestBody": {"required": True, "content": content},
    }


_ERRORS: dict[int | str, Json] = {
    400: {"description": "The request is wrong; nothing was done."},
    409: {"description": "The tool call's id was used otherwise, or its outcome is not known."},
    429: {"description": "Too many actions are waiting."},
    500: {"description": "The action was begun and failed; nothing stays pressed."},
    503: {"description": "There is no display just now."},
}
_PICTURE_HEADERS: Json = {
    name: {"description": meaning, "schema": {"type": "string"}}
    for name, meaning in {
        "ETag": "Names frame and parameters; for If-None-Match.",
        "Deskhand-Frame-Id": "Names what the screen shows; for `since`.",
        "Deskhand-Picture-Size": "Width and height of this picture, as 1280x720.",
        "Deskhand-Native-Size": "Width and height of the screen.",
        "Deskhand-Space": "Name and size of the space of the request, as model 1280x720.",
        "Server-Timing": "Milliseconds of capture and encode.",
    }.items()
}
_PICTURE_ANSWERS: dict[int | str, Json] = {
    200: {
        "description": "The picture.",
        "headers": _PICTURE_HEADERS,
        "content": {
            f"image/{kind}": {"schema": {"type": "string", "format": "binary"}}
            for kind in ("png", "jpeg", "webp")
        },
    },
    304: {"description": "The caller has this picture already.", "headers": _PICTURE_HEADERS},
    400: _ERRORS[400],
    503: _ERRORS[503],
}
