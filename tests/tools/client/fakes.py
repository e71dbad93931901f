"""A control plane of fakes for the tests of its client."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

Json = dict[str, Any]


class FakePlane:
    """Routes of one control plane with one run, whose state the test sets."""

    def __init__(self) -> None:
        self.run: Json = {"id": "c1", "state": "running", "created_at": 1.0}
        self.parts = 1
        self.bodies: list[Json] = []
        self.spawned: Json = {"result": {"chat_id": "c1"}}
        self.watched = asyncio.Event()
        """Set while a stream of events is open."""
        self.events: asyncio.Queue[tuple[str, Json] | None] = asyncio.Queue()
        """Events to send; None ends the stream."""
        self.app = FastAPI()
        self._add_routes()

    def _add_routes(self) -> None:
        # The names of the parameters are those of the framework.
        app = self.app
        app.post("/api/v0/tools/spawn_computer_use_agent")(self._spawn)
        app.get("/api/v0/chats/c1")(self._run)
        app.get("/api/v0/chats/c1/events")(self._events)
        app.post("/api/v0/chats/c1/{action}")(self._act)
        app.get("/api/v0/recordings/c1")(self._recording)
        app.get("/api/v0/recordings/c1/{kind}")(self._video)

    async def _spawn(self, request: Request) -> Json:
        self.bodies.append(await request.json())
        return self.spawned

    async def _run(self) -> Json:
        return self.run

    async def _act(self, action: str, request: Request) -> Json:
        body = await request.body()
        self.bodies.append({"action": action, **(json.loads(body) if body else {})})
        return self.run

    async def _recording(self) -> Response:
        if not self.parts:
            return JSONResponse({"message": "There is no such recording."}, 404)
        return JSONResponse({"parts": [{}] * self.parts})

    async def _video(self, kind: str, request: Request) -> Response:
        return Response(f"{kind} {request.url.query}".strip().encode(), media_type="video/mp4")

    async def _events(self) -> StreamingResponse:
        async def lines() -> AsyncIterator[bytes]:
            yield b"retry: 1\n\n"
            self.watched.set()
            number = 0
            while (event := await self.events.get()) is not None:
                number += 1
                kind, data = event
                body = {"id": number, "kind": kind, "chat_id": "c1", "data": data}
                yield f"id: {number}\nevent: {kind}\ndata: {json.dumps(body)}\n\n".encode()
            self.watched.clear()

        return StreamingResponse(lines(), media_type="text/event-stream")
