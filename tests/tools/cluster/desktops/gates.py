"""A gate on loopback with the certificates of a cluster, whose desktops are in memory."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.tools.cluster.certified import Cluster

Json = dict[str, Any]


def facts(desktop_id: str, **others: Any) -> Json:
    """Return a desktop as a gate describes it."""
    return {
        **{"id": desktop_id, "name": "a desktop", "status": "ready", "chat_id": None},
        **{"created_at": 1.0, "live_url": "/x", "level": "user", "pid": 7, "display": ":1"},
        **{"size": [1920, 1080], "has_display": True, "egress": None, "speak": ["cdp"]},
        **{"template": "", "profile": "", "missing_protections": [], "browser_warning": ""},
        **others,
    }


@dataclass
class FakeGate:
    """What a gate was asked for, and its answers."""

    address: str = ""
    asked: list[str] = field(default_factory=list)
    profiles: list[Json] = field(default_factory=list)
    left: list[Json] = field(default_factory=list)
    ending: list[str] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    uploads: list[Json] = field(default_factory=list)
    """Orders of uploads."""
    uploaded: Response = field(default_factory=lambda: Response(status_code=502))
    revoked: list[str] = field(default_factory=list)
    failures: int = 0
    """Revocations that it answers with an error before it takes one."""

    async def revoke(self, request: Request) -> Response:
        self.asked.append("POST /revocations")
        if self.failures:
            self.failures -= 1
            return JSONResponse({"message": "not now", "code": "unknown"}, 500)
        self.revoked += (await request.json())["credentials"]
        return Response(status_code=204)

    async def hold(self, request: Request) -> Response:
        """Answer nothing until the client leaves, as the gate of a host that was cut off."""
        self.asked.append(f"GET {request.url.path}")
        await request.receive()
        while (await request.receive())["type"] != "http.disconnect":
            pass
        return Response(status_code=204)

    async def answer(self, request: Request) -> Response:
        path = request.url.path
        self.asked.append(f"{request.method} {path}")
        match request.method, path.split("/")[1:]:
            case "GET", ["profiles"]:
                return JSONResponse({"profiles": self.profiles})
            case "DELETE", ["profiles", name]:
                self.profiles = [one for one in self.profiles if one["name"] != name]
                return Response(status_code=204)
            case "GET", ["remains"]:
                return JSONResponse({"recordings": self.left, "ending": self.ending})
            case "GET", ["remains", _, _, name] if name in self.files:
                return Response(self.files[name])
            case "DELETE", ["remains", *_]:
                self.left.clear()
                return Response(status_code=204)
            case "POST", ["uploads"]:
                self.uploads.append(await request.json())
                return self.uploaded
            case "DELETE", ["workdirs", _]:
                return Response(status_code=204)
            case "POST", ["desktops", desktop_id, "display"]:
                return JSONResponse(facts(desktop_id))
            case "GET", ["desktops", desktop_id, *_]:
                return JSONResponse({"desktop": desktop_id})
        return JSONResponse({"message": "not found", "code": "unknown"}, 404)


async def until(reached: Callable[[], bool]) -> None:
    """Return when a condition holds that has no event."""
    while not reached():  # noqa: ASYNC110
        await asyncio.sleep(0.01)


@asynccontextmanager
async def gate(cluster: Cluster) -> AsyncIterator[FakeGate]:
    """Serve a gate of the node n7 while the block runs."""
    fake = FakeGate()
    routes = [
        Route("/revocations", fake.revoke, methods=["POST"]),
        Route("/desktops/{desktop_id}/held", fake.hold, methods=["GET"]),
        Route("/{path:path}", fake.answer, methods=["GET", "POST", "DELETE"]),
    ]
    folder = cluster.folder / "n7"
    config = uvicorn.Config(
        Starlette(routes=routes),
        host="127.0.0.1",
        port=0,
        log_level="error",
        ssl_certfile=str(folder / "identity.pem"),
        ssl_keyfile=str(folder / "identity.pem"),
        ssl_ca_certs=str(folder / "ca.pem"),
        ssl_cert_reqs=ssl.CERT_REQUIRED,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    fake.address = f"127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield fake
    finally:
        server.should_exit = True
        await serving
