"""What libraries load lazily, loaded now: at their first use, and by a request.

The request, to an unused application, is made while the X server starts, which this process waits
for anyway: the first request then need not load them. The desktop's user may be unable to read
their files, but `held_modules` finds them.
"""

import asyncio
import codecs
from collections.abc import AsyncIterator, Iterator, MutableMapping
from typing import Any

from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from deskhand.desktop.screenshots.placeholder import load_font
from deskhand.desktop.screenshots.renderer import load_codecs
from deskhand.vncbridge.server.server import Serving

Message = MutableMapping[str, Any]

_LIFESPAN = ({"type": "lifespan.startup"}, {"type": "lifespan.shutdown"})
_REQUEST = ({"type": "http.request", "body": b"", "more_body": False},)
# The version that uvicorn reports: by it Starlette chooses how it streams, here with anyio's task
# group, which has to be loaded.
_ASGI = {"version": "3.0", "spec_version": "2.3"}
_SCOPE: Message = {
    **{"asgi": _ASGI, "http_version": "1.1", "method": "GET", "scheme": "http", "headers": []},
    **{"path": "/", "raw_path": b"/", "root_path": "", "query_string": b"name=a"},
}


# `json.detect_encoding` chooses one of these by the first bytes of a body.
_ENCODINGS = ("utf-8-sig", "utf-16", "utf-16-be", "utf-16-le", "utf-32", "utf-32-be", "utf-32-le")


class _Body(BaseModel):
    name: str = ""


def load_first_uses() -> None:
    """Load what libraries read from disk at their first use."""
    load_codecs()
    load_font()
    Serving(FastAPI())


async def warm_up() -> None:
    """Start an application, request a stream and its OpenAPI document, and shut it down."""
    for encoding in _ENCODINGS:
        codecs.lookup(encoding)
    app = FastAPI()

    @app.get("/")
    async def stream(name: str = "") -> StreamingResponse:
        return StreamingResponse(_stream(name))

    @app.post("/")
    async def post(body: _Body) -> None:
        pass

    app.openapi()
    await _call(app, "lifespan", iter(_LIFESPAN))
    await _call(app, "http", iter(_REQUEST))


async def _call(app: FastAPI, kind: str, messages: Iterator[Message]) -> None:
    async def receive() -> Message:
        for message in messages:
            return message
        # A streaming response reads on for `http.disconnect`. As with a client that stays
        # connected, no further message comes.
        never: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        return await never

    async def send(message: Message) -> None:
        pass

    await app({**_SCOPE, "type": kind, "state": {}}, receive, send)


async def _stream(name: str) -> AsyncIterator[bytes]:
    yield name.encode()
