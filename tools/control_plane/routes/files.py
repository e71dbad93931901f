"""Routes of stored files: read, pin and remove them."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, BinaryIO

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse, JSONResponse, Response
from starlette.types import Receive, Scope, Send

from deskhand.tools.control_plane.caller import reads_conversation
from deskhand.tools.control_plane.errors import BadBody, NotShared
from deskhand.tools.control_plane.ports import Chats, Files
from deskhand.tools.control_plane.stored_bytes import drop_bad_range, stored_response
from deskhand.tools.control_plane.untrusted_content import content_type, untrusted
from deskhand.tools.conversation.views import FileView
from deskhand.vncbridge.http.etags import matches
from deskhand.vncbridge.http.file_response import openapi_responses
from deskhand.vncbridge.http.lazy_routes import LazyRouter

# "private", as the response is for this person's browser alone; "immutable" (RFC 8246), as the
# bytes of an id never change.
_CACHE = "private, max-age=31536000, immutable"

ATTACHMENT = "attachment"

Download = Annotated[bool, Query(description="Save it instead of showing it.")]


def router(chats: Chats, files: Files) -> APIRouter:
    """Return the routes under ``/api/v0/files``."""
    routes = LazyRouter(prefix="/api/v0/files", tags=["files"])

    @routes.get("")
    async def listing(chat: str = "") -> JSONResponse:
        """List a chat's files."""
        if not chat:
            raise BadBody("chat is required.", "Ask for /api/v0/files?chat=ID.")
        await chats.get(chat)
        found = await chats.files(chat)
        return JSONResponse({"files": [file.to_json() for file in found]})

    # FastAPI does not add HEAD to GET.
    @routes.head("/{file_id}", include_in_schema=False)
    @routes.get("/{file_id}", response_class=Response, responses=openapi_responses("*/*"))
    async def content(file_id: str, request: Request, download: Download = False) -> Response:
        """Send a file's bytes; answers ranges and ``If-None-Match``."""
        file = await files.get(file_id)
        if file.kind == ATTACHMENT and not reads_conversation(request.scope):
            raise NotShared
        return await sent(files, file, request, download=download)

    @routes.put("/{file_id}/pin")
    async def pin(file_id: str) -> JSONResponse:
        """Keep a file whatever its age and the room."""
        return JSONResponse((await files.pin(file_id, True)).to_json())

    @routes.delete("/{file_id}/pin")
    async def unpin(file_id: str) -> JSONResponse:
        """Let a file go when it is old, or the room is short."""
        return JSONResponse((await files.pin(file_id, False)).to_json())

    @routes.delete("/{file_id}", status_code=204)
    async def delete(file_id: str) -> Response:
        """Remove a file."""
        await files.delete(file_id)
        return Response(status_code=204)

    return routes


async def sent(
    files: Files, file: FileView, request: Request, *, download: bool, cache: str = _CACHE
) -> Response:
    """Return the response with a stored file to a GET or a HEAD, wherever its bytes are."""
    headers = _headers(file, download=download, cache=cache)
    # RFC 9110, section 15.4.5: a 304 has the ``ETag`` and ``Cache-Control`` of the 200 in its
    # place.
    if matches(request.headers.get("if-none-match"), headers["ETag"]):
        return Response(status_code=304, headers=headers)
    media_type = content_type(file.media_type)

    def read(start: int, end: int) -> AsyncIterator[bytes]:
        return files.stream(file.id, start, end)

    try:
        # Opened before the response begins: the upload queue may move the bytes to the bucket at
        # any time, while an open file keeps them readable.
        opened = await asyncio.to_thread(files.path(file.id).open, "rb")
    except FileNotFoundError:
        return await stored_response(request, file.size, headers, media_type, read)
    beyond = drop_bad_range(request, os.fstat(opened.fileno()).st_size, headers["ETag"])
    if beyond is None:
        return _OpenedResponse(opened, headers, media_type)
    opened.close()
    return beyond


class _OpenedResponse(FileResponse):
    """Response with the bytes of an open file, which may be moved or removed meanwhile.

    ``FileResponse`` takes a path: that of the open descriptor stays valid (proc_pid_fd(5)).
    """

    def __init__(self, opened: BinaryIO, headers: Mapping[str, str], media_type: str) -> None:
        path, stat = f"/proc/self/fd/{opened.fileno()}", os.fstat(opened.fileno())
        super().__init__(path, headers=headers, media_type=media_type, stat_result=stat)
        self._opened = opened

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the bytes and close the file."""
        with self._opened:
            await super().__call__(scope, receive, send)


def _headers(file: FileView, *, download: bool, cache: str) -> dict[str, str]:
    return {
        "ETag": f'"{file.sha256 or file.id}"',
        "Cache-Control": cache,
        **untrusted(file.media_type, file.name, download=download),
    }
