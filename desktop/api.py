"""The desktop's HTTP routes: status, screenshot, actions."""

import asyncio
import re
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import JSONResponse

from .calls import INSTANCE, call_of, caller_of, header
from .computer import Computer, picture_of
from .errors import (
    ActionFailed,
    CallRefused,
    DisplayGone,
    DisplayNotReady,
    InvalidAction,
    Occupied,
    QueueFull,
)
from .fields import Json
from .once import Once
from .outcomes import Shot
from .replies import Reply
from .requests import action_request, batch_request, decode
from .schema import action_schema, batch_schema, screenshot_parameters

T = TypeVar("T")

PREFIX = "/api/v0/desktop"
# Nobody reads it: the one who asked has gone.
_CLIENT_CLOSED_REQUEST = 499
_WHOLE_NUMBER = re.compile(r"-?\d{1,15}")
_FLAGS = {"true": True, "1": True, "false": False, "0": False}


def router(
    computer: Computer,
    status: Callable[[], Json],
    once: Once,
    refs: Callable[[Json], Json] = lambda body: body,
) -> APIRouter:
    """Return the routes of one computer.

    ``status`` gives the body of the status route, ``once`` keeps calls from being done twice,
    ``refs`` puts points in the place of a body's refs.
    """
    routes = APIRouter(prefix=PREFIX, tags=["desktop"])

    @routes.get("")
    async def desktop_status() -> Json:
        """What this desktop is and how it is."""
        return status()

    @routes.head("/screenshot", include_in_schema=False)
    @routes.get(
        "/screenshot",
        response_class=Response,
        responses=_PICTURE_ANSWERS,
        openapi_extra={"parameters": screenshot_parameters()},
    )
    async def screenshot(request: Request) -> Response:
        """A picture of the screen; 304 where the caller has it already."""
        with _answered():
            wanted = _screenshot_query(dict(request.query_params))
            known = _etags(request.headers.get("if-none-match", ""))
            taken = action_request(wanted, computer.size)
            return _picture(await computer.picture(picture_of(taken, computer.size), known))

    @routes.post("/action", openapi_extra=_body(action_schema()), responses=_ERRORS)
    async def action(request: Request) -> Response:
        """Do one thing, and with `observe` look at what became of it.

        A repeated `Deskhand-Tool-Call-Id` is answered from what was recorded, never done again.
        """
        with _answered():
            body = decode(await request.body())
            reply = Reply(
                computer, action_request(refs(body), computer.size), caller_of(request.headers)
            )
            return await _done_once(request, body, reply, once)

    @routes.post("/actions", openapi_extra=_body(batch_schema()), responses=_ERRORS)
    async def actions(request: Request) -> Response:
        """Do several things in order, up to the first that fails; look once at the end."""
        with _answered():
            body = decode(await request.body())
            reply = Reply(
                computer, batch_request(refs(body), computer.size), caller_of(request.headers)
            )
            return await _done_once(request, body, reply, once)

    return routes


@contextmanager
def _answered() -> Iterator[None]:
    try:
        yield
    except InvalidAction as error:
        raise _refusal(400, error.message, error.detail) from error
    except QueueFull as error:
        raise _refusal(429, "Too many actions are waiting.", str(error)) from error
    except Occupied as error:
        raise _refusal(
            409, "Somebody else acts on this desktop.", str(error), error.code
        ) from error
    except CallRefused as error:
        raise _refusal(409, error.message, error.detail, error.code) from error
    except ActionFailed as error:
        raise _refusal(500, error.message, error.detail) from error
    except (DisplayGone, DisplayNotReady) as error:
        raise _refusal(503, "The display is not available.", str(error)) from error


def _refusal(status: int, message: str, detail: str, code: str = "") -> HTTPException:
    told = {"message": message, "detail": detail, "code": code}
    body = {name: text for name, text in told.items() if text}
    headers = {"Retry-After": "1"} if status in (429, 503) else None
    return HTTPException(status, body, headers)


async def _done_once(request: Request, body: Json, reply: Reply, once: Once) -> Response:
    call = call_of(request.headers, request.url.path, body)
    status, answer = await _while_connected(
        request, reply.once(once, call, header(request.headers, INSTANCE))
    )
    return JSONResponse(answer, status)


async def _while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Await work, and cancel it when the one who asked for it goes away."""
    working = asyncio.create_task(work, name="action")
    leaving = asyncio.create_task(_left(request), name="disconnect")
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise HTTPException(_CLIENT_CLOSED_REQUEST, "The client went away.")
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _screenshot_query(query: dict[str, str]) -> Json:
    wanted: Json = {"action": "screenshot"}
    for name, value in query.items():
        match name:
            case "action" | "observe":
                raise InvalidAction(f'Unknown parameter "{name}".')
            case "scaled_width" | "scaled_height" | "quality":
                wanted[name] = _integer(name, value)
            case "region":
                wanted[name] = [_integer(name, part.strip()) for part in value.split(",")]
            case "cursor":
                if value not in _FLAGS:
                    raise InvalidAction('"cursor" must be true or false.')
                wanted[name] = _FLAGS[value]
            case _:
                wanted[name] = value
    return wanted


def _integer(name: str, value: str) -> int:
    if not _WHOLE_NUMBER.fullmatch(value):
        raise InvalidAction(f'"{name}" must be a whole number.')
    return int(value)


def _etags(header: str) -> frozenset[str]:
    return frozenset(re.findall(r'"([^"]*)"', header))


def _picture(shot: Shot) -> Response:
    headers = {
        "ETag": f'"{shot.etag}"',
        "Cache-Control": "no-cache",
        "Deskhand-Frame-Id": shot.frame_id,
        "Deskhand-Picture-Size": f"{shot.size.width}x{shot.size.height}",
        "Deskhand-Native-Size": f"{shot.native.width}x{shot.native.height}",
        "Server-Timing": ", ".join(
            f"{stage};dur={taken:.3f}" for stage, taken in shot.timings.items()
        ),
    }
    if shot.data is None:
        return Response(status_code=304, headers=headers)
    return Response(shot.data, media_type=f"image/{shot.format}", headers=headers)


def _body(schema: Json) -> Json:
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


_ERRORS: dict[int | str, Json] = {
    400: {"description": "The request is wrong; nothing was done."},
    409: {"description": "The tool call's id was used otherwise, or its outcome is not known."},
    429: {"description": "Too many actions are waiting."},
    500: {"description": "The action was begun and failed; nothing stays pressed."},
    503: {"description": "There is no display just now."},
}
_PICTURE_ANSWERS: dict[int | str, Json] = {
    200: {
        "description": "The picture.",
        "content": {
            f"image/{kind}": {"schema": {"type": "string", "format": "binary"}}
            for kind in ("png", "jpeg", "webp")
        },
    },
    304: {"description": "The caller has this picture already."},
    400: _ERRORS[400],
    503: _ERRORS[503],
}
