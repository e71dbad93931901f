"""A control plane of fakes over real HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, HTTPException, Request

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.mcp.api import McpEndpoint, add_mcp
from deskhand.desktop.mcp.ports import McpCaller
from deskhand.tools.mcp.relay import ConnectedPlane
from tests.desktop.mcp.fakes import FakeCalls
from tests.desktop.serving import serving

CHAT = "5e0f3a52-0c1b-5f0e-9a34-0d8a4b9f6c11"


class FakePlane:
    """The routes that a process on standard input uses."""

    def __init__(self) -> None:
        self.calls = FakeCalls()
        self.requests: list[tuple[str, Any]] = []
        self.app = FastAPI()
        add_mcp(self.app, McpEndpoint(lambda: self._caller, "1.0"))

        @self.app.get("/healthz")
        async def healthz() -> dict[str, str]:
            return {"status": "ok"}

        @self.app.post("/api/v0/chats")
        async def create(request: Request) -> dict[str, str]:
            self.requests.append(("create", await request.json()))
            return {"id": CHAT}

        @self.app.post("/api/v0/chats/{chat_id}/{what}")
        async def change(chat_id: str, what: str, request: Request) -> dict[str, str]:
            self.requests.append((what, (await request.body()).decode()))
            if chat_id == "missing":
                raise HTTPException(404)
            return {}

        @self.app.get("/api/v0/desktops/{desktop_id}/{path:path}")
        async def proxied(desktop_id: str, path: str, request: Request) -> dict[str, Any]:
            chat = request.headers["deskhand-chat-id"]
            self.requests.append((path, (desktop_id, chat)))
            return {"processes": [], "recordings": []}

    def _caller(self, request: Request) -> McpCaller:
        self.requests.append((request.headers["mcp-method"], dict(request.query_params)))
        return McpCaller(request.headers["deskhand-chat-id"], self.calls)

    def asked(self, what: str) -> list[Any]:
        """What was sent with requests of one kind."""
        return [sent for one, sent in self.requests if one == what]


class FakeSource:
    """Implements ``PlaneSource`` with a connected plane."""

    def __init__(self, plane: ConnectedPlane) -> None:
        self.plane = plane
        self.checks = 0

    async def __call__(self) -> ConnectedPlane:
        return self.plane

    async def check(self) -> None:
        self.checks += 1


@asynccontextmanager
async def connected(plane: FakePlane) -> AsyncIterator[FakeSource]:
    """Serve a plane, and connect to it."""
    async with serving(plane.app) as address, DesktopClient(address, "token") as client:
        yield FakeSource(ConnectedPlane(client, CHAT))
