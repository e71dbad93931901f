"""The pages of a task, served on loopback; what is sent to them is kept here.

A slot is one port that serves one run after another. Its port is known before the control plane
starts, because a desktop with a network of its own reaches granted addresses only. Requests are
kept in this process, where the agent can neither read nor change them.
"""

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from mimetypes import guess_type
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from deskhand.vncbridge.server.server import Address, Serving, listening

Json = dict[str, Any]

MOST_REQUESTS = 10_000
"""Requests that are kept for one run."""
LARGEST_BODY = 8 * 1024 * 1024
LONGEST_TEXT = 64 * 1024
"""Characters of a body or file that are kept."""
CHANGING = ["POST", "PUT", "PATCH", "DELETE"]
RECEIVED = "<!doctype html><title>Received</title><p>Received.</p>"
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


@dataclass
class ServedPages:
    """The pages of one run, and the requests for them."""

    folder: Path | None
    started: float = field(default_factory=time.monotonic)
    posted: list[Json] = field(default_factory=list)
    """What was sent, in order; see docs/eval.md."""
    room: int = 64 * 1024 * 1024
    """Bytes that may still be sent."""
    visited: list[str] = field(default_factory=list)
    """Paths of the pages that were requested, with their queries."""

    def file(self, path: str) -> Path | None:
        """Return the file of a path of an address, None if there is none."""
        if self.folder is None:
            return None
        root = self.folder.resolve()
        found = (root / path.lstrip("/")).resolve()
        if found.is_dir():
            found /= "index.html"
        return found if found.is_relative_to(root) and found.is_file() else None


class PageSlot:
    """One port, and the pages that it serves now."""

    def __init__(self) -> None:
        self.url = ""
        self.pages: ServedPages | None = None

    @property
    def address(self) -> str:
        """``HOST:PORT``, as a grant names it."""
        return self.url.rpartition("/")[2]

    @asynccontextmanager
    async def listening(self) -> AsyncIterator["PageSlot"]:
        """Serve while the block runs."""
        routes = [
            Route("/{path:path}", self._get, methods=["GET", "HEAD"]),
            Route("/{path:path}", self._post, methods=CHANGING),
        ]
        server = Serving(Starlette(routes=routes))
        with listening(Address("127.0.0.1", 0)) as (bound, address):
            self.url = address.url
            serving = asyncio.create_task(server.serve(sockets=[bound]), name="pages of a task")
            try:
                yield self
            finally:
                server.ask_to_end()
                await serving

    async def _get(self, request: Request) -> Response:
        pages = self.pages
        if pages is None:
            return Response(status_code=404)
        query = f"?{request.url.query}" if request.url.query else ""
        if len(pages.visited) < MOST_REQUESTS:
            pages.visited.append(request.url.path + query)
        return self._answer(pages, request.url.path) or Response(status_code=404)

    async def _post(self, request: Request) -> Response:
        pages = self.pages
        if pages is None or len(pages.posted) >= MOST_REQUESTS:
            return Response(status_code=404)
        if "transfer-encoding" in request.headers:
            return Response(status_code=411)
        length = int(request.headers.get("content-length") or 0)
        if length > min(LARGEST_BODY, pages.room):
            return Response(status_code=413)
        pages.room -= length
        record: Json = {
            "method": request.method,
            "path": request.url.path,
            "query": dict(request.query_params),
            "seconds": round(time.monotonic() - pages.started, 3),
        }
        record |= await _sent(request)
        pages.posted.append(record)
        answer = self._answer(pages, request.url.path)
        if answer is not None:
            return answer
        if "text/html" in request.headers.get("accept", ""):
            return HTMLResponse(RECEIVED)
        return JSONResponse({"ok": True, "number": len(pages.posted)})

    def _answer(self, pages: ServedPages, path: str) -> Response | None:
        found = pages.file(path)
        if found is None:
            return None
        kind = guess_type(found.name)[0] or "application/octet-stream"
        if kind.startswith("text/"):
            kind += "; charset=utf-8"
        headers = {"Cache-Control": "no-store", "Content-Type": kind}
        return Response(found.read_bytes(), headers=headers)


async def _sent(request: Request) -> Json:
    """Return the body of a request in the form that checkers read."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in FORMS:
        async with request.form() as form:
            fields: Json = {}
            for name, value in form.multi_items():
                kept = await _uploaded(value) if isinstance(value, UploadFile) else value
                if name not in fields:
                    fields[name] = kept
                elif isinstance(fields[name], list):
                    fields[name].append(kept)
                else:
                    fields[name] = [fields[name], kept]
        return {"type": kind, "fields": fields}
    text = (await request.body()).decode("utf-8", "replace")[:LONGEST_TEXT]
    found: Json = {"type": kind, "text": text}
    # Pages also send JSON as text/plain, with ``navigator.sendBeacon``.
    with suppress(ValueError):
        found["json"] = json.loads(text)
    return found


async def _uploaded(file: UploadFile) -> Json:
    content = await file.read(LARGEST_BODY)
    return {
        "file": file.filename or "",
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "text": content.decode("utf-8", "replace")[:LONGEST_TEXT],
    }
