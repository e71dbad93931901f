"""Uploads of files of desktops straight to the bucket, to addresses that control planes sign.

The node has no key of the bucket. The bytes pass through this process, one piece at a time. An
upload ends with the request for it, so that no object appears that nothing waits for.
"""

import hashlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

import httpx2
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from deskhand.desktop.client.http1.open_reply import OpenReply
from deskhand.tools.fleet.errors import BadOrder
from deskhand.vncbridge.errors import ClientGone
from deskhand.vncbridge.http.disconnect import disconnected, run_unless

from .bodies import json_of, text_of
from .errors import UploadFailed
from .forwarding import Clients
from .planes_only import Note, no_note, plane_of

Json = dict[str, Any]
TIMEOUT = httpx2.Timeout(60.0, connect=10.0)
OK = 200


class Uploads:
    """Reads files of desktops and puts them to the addresses."""

    def __init__(self, clients: Clients, http: httpx2.AsyncClient, note: Note = no_note) -> None:
        self._note = note
        self._clients = clients
        self._http = http

    @property
    def routes(self) -> tuple[BaseRoute, ...]:
        """The route."""
        return (Route("/uploads", self._upload, methods=["POST"]),)

    async def _upload(self, request: Request) -> Response:
        body = await json_of(request)
        path, url = text_of(body, "path"), text_of(body, "put_url")
        headers = body.get("headers") or {}
        if not path.startswith("/api/v0/") or not url.startswith(("https://", "http://")):
            raise BadOrder("path must begin with /api/v0/, and put_url with https:// or http://")
        if not isinstance(headers, dict):
            raise BadOrder("headers must be an object")
        desktop_id = text_of(body, "desktop_id")
        client = self._clients(desktop_id)
        async with client.stream("GET", path) as reply:
            if reply.status != OK:
                raise UploadFailed(f"the desktop answers {path} with status {reply.status}")
            putting = self._put(reply, url, headers)
            try:
                # ``disconnected`` may receive only now: the body has been read.
                stored = await run_unless(putting, disconnected(request.receive))
            except ClientGone as error:
                raise UploadFailed("the control plane does not wait for it any more") from error
        self._note(plane_of(request.scope), "node.upload", desktop_id, {"path": path, **stored})
        return JSONResponse(stored)

    async def _put(self, reply: OpenReply, url: str, headers: Mapping[str, str]) -> Json:
        length = reply.header("content-length")
        # Buckets refuse content in chunks (``Transfer-Encoding``).
        if not length:
            raise UploadFailed("the desktop does not name the length of the file")
        sent = _Content(reply)
        try:
            answer = await self._http.put(
                url, content=sent.pieces(), headers={**headers, "Content-Length": length}
            )
        # httpx2 refuses addresses and broken headers with errors of its own.
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, TypeError) as error:
            raise UploadFailed(f"the bucket does not take the file: {error!r}") from error
        if not answer.is_success:
            raise UploadFailed(f"the bucket answers with status {answer.status_code}")
        return {"size": sent.size, "sha256": sent.digest.hexdigest()}


class _Content:
    """The content of an answer, with its length and digest as it passes."""

    def __init__(self, reply: OpenReply) -> None:
        self._reply = reply
        self.size = 0
        self.digest = hashlib.sha256()

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        async with aclosing(self._reply.chunks()) as chunks:
            async for chunk in chunks:
                self.size += len(chunk)
                self.digest.update(chunk)
                yield chunk
