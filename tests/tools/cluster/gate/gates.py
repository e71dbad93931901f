"""A gate that is served with real TLS on loopback, with a fake fleet."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.network.egress import Egress
from deskhand.desktop.profiles.profile_folder import StoredProfile
from deskhand.tools.cluster.gate.gate import Gate, NodeFacts
from deskhand.tools.cluster.gate.node_desktops import NodeDesktops
from deskhand.tools.cluster.gate.planes_only import PlanesOnly
from deskhand.tools.cluster.gate.stored_routes import StoredRoutes
from deskhand.tools.cluster.gate.uploads import Uploads
from deskhand.tools.cluster.trust import ClusterTls
from deskhand.tools.fleet.desktop_info import DesktopInfo
from deskhand.tools.fleet.errors import (
    DesktopNotStarted,
    LauncherRefused,
    ProfileTaken,
    UnknownDesktop,
    UnknownProfile,
)
from deskhand.tools.recovery.ports import LeftRecording, Remains
from deskhand.tools.templates.library import TemplateLibrary
from deskhand.vncbridge.server.server import Serving
from tests.tools.cluster.certified import Cluster
from tests.tools.control_plane.fakes import local_socket, serving

A, B, C = "aaaaaaaa", "bbbbbbbb", "cccccccc"
TOKEN = "token-of-a-desktop"
LIMIT = 60.0
Json = dict[str, Any]
LEFT = LeftRecording(B, "0b5b3c1a-7d20-4a55-9c7e-2d6a0f5d8a11", ("1.mp4", "1.json"))


def described(desktop_id: str, **fields: Any) -> DesktopInfo:
    values = {
        "id": desktop_id,
        "name": f"desktop {desktop_id}",
        "status": "ready",
        "chat_id": None,
        "created_at": 1.0,
        "live_url": f"/desktops/{desktop_id}",
        "level": "user",
        "pid": 1,
        "display": ":1",
        "size": (1280, 720),
    }
    return DesktopInfo(**{**values, **fields})


@dataclass
class FakeFleet:
    """Desktops that exist only as entries; ``url`` is the service of all of them."""

    url: str
    templates: TemplateLibrary
    infos: dict[str, DesktopInfo] = field(default_factory=dict)
    started: list[tuple[str, Json]] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    """Starts wait for it."""
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    failure: str = ""
    stop_failure: Exception | None = None
    clients: dict[str, DesktopClient] = field(default_factory=dict)
    token: str = TOKEN

    async def start(
        self,
        name: str | None = None,
        chat_id: str | None = None,
        egress: Egress | None = None,
        *,
        desktop_id: str = "",
        template: str | None = None,
        **others: Any,
    ) -> DesktopInfo:
        if template is not None:
            self.templates.get(template)
        self.started.append((desktop_id, {"egress": egress, "template": template, **others}))
        self.begun.set()
        await self.gate.wait()
        if self.failure:
            raise DesktopNotStarted(self.failure)
        info = described(desktop_id, name=name or "", chat_id=chat_id)
        self.infos[desktop_id] = info
        return info

    async def stop(self, desktop_id: str) -> None:
        if desktop_id not in self.infos:
            raise UnknownDesktop(desktop_id)
        if self.stop_failure is not None:
            raise self.stop_failure
        del self.infos[desktop_id]

    async def show(self, desktop_id: str) -> None:
        if desktop_id not in self.infos:
            raise UnknownDesktop(desktop_id)
        self.shown.append(desktop_id)

    async def list(self) -> Sequence[DesktopInfo]:
        return tuple(self.infos.values())

    def known(self, desktop_id: str) -> bool:
        return desktop_id in self.infos

    def template_of(self, desktop_id: str) -> str:
        found = [fields["template"] for one, fields in self.started if one == desktop_id]
        return found[-1] or "" if found else ""

    def client(self, desktop_id: str) -> DesktopClient:
        if desktop_id not in self.infos:
            raise UnknownDesktop(desktop_id)
        if desktop_id not in self.clients:
            self.clients[desktop_id] = DesktopClient(self.url, self.token)
        return self.clients[desktop_id]

    async def forget_workdir(self, name: str) -> None:
        if name == "used":
            raise LauncherRefused("a desktop has it")
        self.forgotten.append(name)


@dataclass
class FakeProfiles:
    names: list[str] = field(default_factory=lambda: ["shop", "taken"])

    async def all(self) -> Sequence[StoredProfile]:
        return tuple(StoredProfile(name, 10, 1.0, "") for name in self.names)

    async def remove(self, name: str) -> None:
        if name == "taken":
            raise ProfileTaken(name, A, "first")
        if name not in self.names:
            raise UnknownProfile(name)
        self.names.remove(name)


@dataclass
class FakeRemains:
    folder: Path
    left: list[LeftRecording] = field(default_factory=lambda: [LEFT])
    lives: bool = False

    def list(self) -> Remains:
        return Remains(tuple(self.left), frozenset({C}) if self.lives else frozenset())

    def open(self, left: LeftRecording, name: str) -> int:
        file = self.folder / left.desktop_id / name
        if not file.is_file():
            raise FileNotFoundError(f"{left.desktop_id}: no file {name}")
        return os.open(file, os.O_RDONLY)

    def remove(self, left: LeftRecording) -> None:
        if self.lives:
            raise BlockingIOError(11, "the desktop is not dead")
        self.left = [one for one in self.left if one.desktop_id != left.desktop_id]


@dataclass
class OpenGate:
    """A gate that is served, and what its test may look at or change."""

    cluster: Cluster
    port: int
    fleet: FakeFleet
    profiles: FakeProfiles
    remains: FakeRemains
    desktops: NodeDesktops
    planes: PlanesOnly
    tls: ClusterTls
    seen: list[bool]
    places: list[int]
    http: httpx2.AsyncClient
    """Of a control plane."""
    received: list[Json]
    """Requests that reached a desktop."""
    left: asyncio.Event
    """Set when a request at a desktop was cancelled."""
    notes: list[tuple[str, str, str, Json]]
    """Records of the audit log."""

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    async def ask(self, method: str, path: str, **options: Any) -> httpx2.Response:
        return await asked(self.http, method, self.url + path, **options)

    def client(self, tls: ClusterTls) -> httpx2.AsyncClient:
        context = tls.client_context
        return httpx2.AsyncClient(verify=context, trust_env=False, timeout=LIMIT)


async def asked(http: httpx2.AsyncClient, method: str, url: str, **options: Any) -> httpx2.Response:
    extensions = {"sni_hostname": "n7.node.deskhand.internal"}
    return await http.request(method, url, extensions=extensions, **options)


def desktop_service(received: list[Json], left: asyncio.Event) -> Starlette:
    """Return what answers in the place of a desktop."""

    async def echo(request: Request) -> Response:
        body = await request.body()
        headers = [[name.decode(), value.decode()] for name, value in request.headers.raw]
        facts = {
            "method": request.method,
            "target": request.scope["raw_path"].decode() + "?" + request.url.query,
            "headers": headers,
            "length": len(body),
        }
        received.append(facts)
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return JSONResponse({"message": "who is it?"}, 401)
        return JSONResponse(facts, 418, {"X-Own": "kept", "Set-Cookie": "a=b"})

    async def stream(request: Request) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            try:
                yield b"first\n"
                await asyncio.Event().wait()
            finally:
                left.set()

        return StreamingResponse(pieces(), media_type="text/event-stream")

    async def file(request: Request) -> Response:
        return Response(b"0123456789" * 100_000, media_type="video/mp4")

    async def mirror(websocket: WebSocket) -> None:
        received.append({"headers": dict(websocket.headers)})
        await websocket.accept("binary" if "binary" in websocket.scope["subprotocols"] else None)
        async for data in websocket.iter_bytes():
            await websocket.send_bytes(websocket.url.query.encode() + b":" + data)

    methods = ["GET", "POST", "PUT", "DELETE", "HEAD"]
    return Starlette(
        routes=[
            Route("/healthz", echo),
            Route("/api/v0/stream", stream),
            Route("/api/v0/file", file),
            WebSocketRoute("/api/v0/mirror", mirror),
            Route("/api/v0/{rest:path}", echo, methods=methods),
        ]
    )


@asynccontextmanager
async def gate(folder: Path) -> AsyncIterator[OpenGate]:
    """Serve a gate of the node n7, with a desktop A."""
    cluster = Cluster(folder)
    received: list[Json] = []
    left = asyncio.Event()
    async with asyncio.timeout(LIMIT), AsyncExitStack() as stack:
        bound, address = local_socket()
        await stack.enter_async_context(serving(desktop_service(received, left), bound))
        fleet = FakeFleet(f"http://{address}", TemplateLibrary(folder / "templates"))
        fleet.infos[A] = described(A)
        fleet.gate.set()
        profiles, remains = FakeProfiles(), FakeRemains(folder / "remains")
        places = [2]

        def problem(running: int, starting: int) -> str:
            return "no place" if running + starting >= places[0] else ""

        desktops = NodeDesktops(fleet, problem)
        stack.push_async_callback(desktops.close)
        buckets = await stack.enter_async_context(httpx2.AsyncClient(trust_env=False))
        notes: list[tuple[str, str, str, Json]] = []

        def note(actor: str, action: str, subject: str, details: Json) -> None:
            notes.append((actor, action, subject, details))

        others = (
            *StoredRoutes(remains, profiles, fleet).routes,
            *Uploads(fleet.client, buckets, note).routes,
        )
        facts = NodeFacts("n7", "1.0", 2, "wss://n7.example.com")
        seen: list[bool] = []
        app = Gate(facts, desktops, fleet.client, profiles, others, note)
        planes = PlanesOnly(app, cluster.n7, lambda: seen.append(True))
        near, _ = local_socket()
        port = near.getsockname()[1]
        await stack.enter_async_context(served_with(planes, near, cluster.n7))
        http = await stack.enter_async_context(
            httpx2.AsyncClient(verify=cluster.plane.client_context, trust_env=False, timeout=LIMIT)
        )
        try:
            yield OpenGate(
                *(cluster, port, fleet, profiles, remains, desktops, planes, cluster.n7, seen),
                *(places, http, received, left, notes),
            )
        finally:
            for client in fleet.clients.values():
                await client.close()


@asynccontextmanager
async def served_with(app: Any, bound: socket.socket, tls: ClusterTls) -> AsyncIterator[Serving]:
    ready = asyncio.Event()
    server = Serving(app, ready.set, tls=tls.server_context, certified=True)
    task = asyncio.create_task(server.serve(sockets=[bound]))
    try:
        await ready.wait()
        yield server
    finally:
        server.ask_to_end()
        await task
        bound.close()


def played(folder: Path, scenario: Callable[[OpenGate], Awaitable[None]]) -> None:
    """Await a scenario with a gate."""

    async def main() -> None:
        async with gate(folder) as opened:
            await scenario(opened)

    asyncio.run(main())
