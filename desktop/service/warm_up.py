"""One request to nobody, so that libraries load what they load at their first use."""

import asyncio
import codecs
from collections.abc import AsyncIterator, Iterator, MutableMapping
from typing import Any

from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

Message = MutableMapping[str, Any]

_LIFE = ({"type": "lifespan.startup"}, {"type": "lifespan.shutdown"})
_REQUEST = ({"type": "http.request", "body": b"", "more_body": False},)
_ASGI = {"version": "3.0", "spec_version": "2.3"}
_SCOPE: Message = {
    **{"asgi": _ASGI, "http_version": "1.1", "method": "GET", "scheme": "http", "headers": []},
    **{"path": "/", "raw_path": b"/", "root_path": "", "query_string": b"name=a"},
}


# What the first bytes of a body may make json take it for.
_ENCODINGS = ("utf-8-sig", "utf-16", "utf-16-be", "utf-16-le", "utf-32", "utf-32-be", "utf-32-le")


class _Told(BaseModel):
    name: str = ""


async def warm_up() -> None:
    """Start an application, ask it for a stream and for its document, and end it."""
    for encoding in _ENCODINGS:
        codecs.lookup(encoding)
    app = FastAPI()

    @app.get("/")
    async def stream(name: str = "") -> StreamingResponse:
        return StreamingResponse(_words(name))

    @app.post("/")
    async def told(told: _Told) -> None:
        pass

    app.openapi()
    await _ask(app, "lifespan", iter(_LIFE))
    await _ask(app, "http", iter(_REQUEST))


async def _ask(app: FastAPI, kind: str, messages: Iterator[Message]) -> None:
    async def receive() -> Message:
        for message in messages:
            return message
        never: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        return await never

    async def send(message: Message) -> None:
        pass

    await app({**_SCOPE, "type": kind, "state": {}}, receive, send)


async def _words(name: str) -> AsyncIterator[bytes]:
    yield name.encode()
