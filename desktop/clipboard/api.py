"""Routes of the clipboard."""

import asyncio
import base64
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from fastapi import APIRouter, HTTPException, Request, Response

from deskhand.desktop.actions.fields import LONGEST_DURATION, seconds
from deskhand.desktop.actions.requests import decode
from deskhand.desktop.actions.schema import either, query_parameters
from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.fields import known
from deskhand.desktop.http_errors import answered, refusal
from deskhand.desktop.lease.access import AccessControl, acting, control_key
from deskhand.desktop.tool_calls.caller import caller_of
from deskhand.desktop.x11.selection import LARGEST, Content, Kind
from deskhand.vncbridge.http.lazy_routes import LazyRouter

Json = dict[str, Any]

_PNG = b"\x89PNG\r\n\x1a\n"
_KINDS: dict[str, tuple[Kind, ...]] = {
    "": ("text/plain", "image/png"),
    "text": ("text/plain",),
    "text/plain": ("text/plain",),
    "image": ("image/png",),
    "image/png": ("image/png",),
}
# Content from a desktop is untrusted and must never run as a page of this origin.
_SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class ClipboardService(Protocol):
    """The clipboard of a display. Blocking; called from any thread."""

    def get(self, kinds: tuple[Kind, ...]) -> Content | None:
        """Return the content in the first of these types that is offered."""

    def put(self, content: Content, restore_after: float | None = None) -> None:
        """Copy; after ``restore_after`` seconds the previous content comes back."""

    def restore(self) -> bool:
        """Copy the previous content again; return False if none was saved."""


def router(clipboard: Callable[[], ClipboardService], access: AccessControl) -> APIRouter:
    """Return the routes; ``clipboard`` may wait for a display and is called in a worker thread."""
    routes = LazyRouter(prefix="/api/v0/desktop", tags=["desktop"])

    @routes.get(
        "/clipboard",
        response_class=Response,
        responses=_CONTENTS,
        openapi_extra={"parameters": query_parameters({"type": _TYPE, "viewer": _VIEWER})},
    )
    async def read(request: Request) -> Response:
        """What was copied last; text, else a PNG, or what `type` says. 204 if there is none."""
        with answered():
            known(request.query_params, ("type", "viewer"))
            kinds = _requested_kinds(request)
            if not _holds_control(request, access):
                access.check_view()
            found = await asyncio.to_thread(lambda: clipboard().get(kinds))
            if found is None:
                return Response(status_code=204, headers=_SAFE)
            return Response(
                found.data, headers={**_SAFE, "Content-Type": _content_type(found.kind)}
            )

    @routes.put("/clipboard", status_code=204, openapi_extra=_BODY)
    async def write(request: Request) -> Response:
        """Copy `{"text": ...}`, `{"image_png": BASE64}`, or the body itself: a PNG or UTF-8.

        After `restore_after` seconds what was there before comes back, unless something else was
        copied meanwhile.
        """
        with answered():
            known(request.query_params, ("restore_after", "viewer"))
            after = _restore_after(request.query_params.get("restore_after"))
            content = content_of(request.headers.get("content-type", ""), await _body(request))
            with _acting(request, access):
                await asyncio.to_thread(lambda: clipboard().put(content, after))
            return Response(status_code=204)

    @routes.post(
        "/clipboard/restore",
        status_code=204,
        openapi_extra={"parameters": query_parameters({"viewer": _VIEWER})},
    )
    async def restore(request: Request) -> Response:
        """Copy again what was there before the last PUT."""
        with answered():
            with _acting(request, access):
                restored = await asyncio.to_thread(lambda: clipboard().restore())
            if not restored:
                raise refusal(409, "There is nothing to restore.", "nothing was copied before")
            return Response(status_code=204)

    return routes


def _holds_control(request: Request, access: AccessControl) -> bool:
    """Return True for the live view in control, which may use the clipboard in privacy mode."""
    return access.holds_control(control_key(None, request.query_params.get("viewer")))


def _acting(request: Request, access: AccessControl) -> AbstractContextManager[None]:
    chat = caller_of(request.headers).chat_id
    return acting(access, request.query_params.get("viewer"), chat)


def content_of(media_type: str, body: bytes) -> Content:
    """Parse the body of a request to copy.

    Raises:
        InvalidAction: If the content is neither UTF-8 nor a PNG.
    """
    if media_type.partition(";")[0].strip().lower() == "application/json":
        return _from_json(decode(body))
    if body.startswith(_PNG):
        return Content("image/png", body)
    try:
        body.decode()
    except UnicodeDecodeError as error:
        raise InvalidAction("Copy a text in UTF-8 or a PNG.", str(error)) from error
    return Content("text/plain", body)


def _from_json(body: Json) -> Content:
    known(body, ("text", "image_png"))
    text, image = body.get("text"), body.get("image_png")
    if isinstance(text, str) and image is None:
        return Content("text/plain", text.encode())
    if not isinstance(image, str) or text is not None:
        raise InvalidAction('Give either "text" or "image_png", a text.')
    try:
        data = base64.b64decode(image, validate=True)
    except ValueError as error:
        raise InvalidAction('"image_png" must be base64.', str(error)) from error
    if not data.startswith(_PNG):
        raise InvalidAction('"image_png" must be a PNG.')
    return Content("image/png", data)


async def _body(request: Request) -> bytes:
    content = bytearray()
    async for chunk in request.stream():
        # Content-Length may be absent, so the limit applies to the bytes that have arrived.
        content += chunk
        if len(content) > LARGEST:
            detail = f"at most {LARGEST} bytes can be copied"
            raise HTTPException(413, {"message": "Too large for the clipboard.", "detail": detail})
    return bytes(content)


def _restore_after(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return seconds("restore_after", float(text))
    except ValueError as error:
        raise InvalidAction('"restore_after" must be a number of seconds.') from error


def _requested_kinds(request: Request) -> tuple[Kind, ...]:
    kind = request.query_params.get("type")
    if kind is None:
        kind = "image" if request.headers.get("accept", "").startswith("image/") else ""
    if kind not in _KINDS:
        raise InvalidAction('"type" must be text or image.')
    return _KINDS[kind]


def _content_type(kind: Kind) -> str:
    return "text/plain; charset=utf-8" if kind == "text/plain" else kind


_CONTENTS: dict[int | str, Json] = {
    200: {
        "description": "What was copied.",
        "content": {"text/plain": {}, "image/png": {}},
    },
    204: {"description": "Nothing is there in that form."},
    504: {"description": "The program that copied it does not hand it over."},
}
_TYPE: Json = {"type": "string", "enum": list(_KINDS)}
_VIEWER: Json = {"type": "string", "description": "Key of the live view's page that asks."}
_AFTER: Json = {"type": "number", "minimum": 0, "maximum": LONGEST_DURATION}
_BODY: Json = {
    "parameters": query_parameters({"restore_after": _AFTER, "viewer": _VIEWER}),
    "requestBody": {
        "required": False,
        "description": "Nothing: an empty text.",
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "additionalProperties": False,
                    **either("text", "image_png"),
                    "properties": {
                        "text": {"type": "string"},
                        "image_png": {"type": "string", "contentEncoding": "base64"},
                    },
                }
            },
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    },
}
