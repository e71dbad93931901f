"""Routes of the control plane's own state: liveness, readiness and status."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from deskhand.tools.control_plane.caller import is_administrator
from deskhand.tools.control_plane.ports import Chats, Desktops, Json
from deskhand.tools.control_plane.protections import PlaneProtection
from deskhand.vncbridge.http.lazy_routes import LazyRouter
from deskhand.vncbridge.http.sse import EventStreams

COUNTED = ("queued", "running", "interrupting", "requires_action")
COUNTED_UP_TO = 100
"""Largest count of chats in a state: a page of the list, so that the query stays cheap."""


@dataclass(frozen=True)
class ServiceFacts:
    """Properties of the service that only its composition knows."""

    version: str
    model: str
    """Name of the model for new chats, such as ``scripted:demo``."""
    key_set: bool
    """True if a provider's key is set."""
    data_dir: Path
    resumed_by_supervisor: int = 0
    """Number of chats that the supervisor had to resume; it must stay 0."""
    desktop_limits: Mapping[str, int] | None = None
    """Limits of each desktop; None if nothing enforces any."""
    protections: Sequence[PlaneProtection] = ()
    """Of the control plane; each desktop has its own."""


def router(
    about: Callable[[], ServiceFacts],
    ready: Callable[[], bool],
    chats: Chats,
    desktops: Desktops,
    streams: EventStreams,
    disk: Callable[[], Json],
    cluster: Callable[[], Awaitable[Json]],
) -> APIRouter:
    """Return the routes ``/healthz``, ``/readyz`` and ``/api/v0/status``.

    ``disk`` measures the disk of the data directory; it may block. ``cluster`` returns the fields
    that only the control plane of a cluster has.
    """
    routes = LazyRouter(tags=["status"])

    @routes.get("/healthz")
    async def health() -> JSONResponse:
        """Answer as long as the process answers at all."""
        return JSONResponse({"status": "ok"})

    @routes.get("/readyz", responses={503: {"description": "Not yet, or no more."}})
    async def readiness() -> JSONResponse:
        """Report whether requests are accepted: not before the start is done, not while closing."""
        # 503 while closing lets a load balancer choose another service before this one ends.
        # The same while the database cannot be written: agents wait, and requests fail.
        if ready() and not streams.closing.is_set():
            return JSONResponse({"status": "ready"})
        return JSONResponse({"status": "not ready"}, 503)

    @routes.get("/api/v0/status")
    async def status(request: Request) -> JSONResponse:
        """Show version, model, room on the disk, and how much is going on.

        A credential without the scope `admin` gets the version only.
        """
        now = about()
        if not is_administrator(request.scope):
            return JSONResponse({"version": now.version})
        # statvfs(2) blocks while a network file system does not respond.
        space = await asyncio.to_thread(disk)
        return JSONResponse(
            {
                "version": now.version,
                "model": now.model,
                "key_set": now.key_set,
                "data_dir": str(now.data_dir),
                "free_bytes": space["free_bytes"],
                "disk": space,
                "chats": {state: await _count(chats, state) for state in COUNTED},
                "desktops": Counter(desktop.status for desktop in await desktops.list()),
                "desktop_limits": now.desktop_limits,
                "protections": [one.to_json() for one in now.protections],
                "event_streams": streams.count,
                # More than 0 is a defect: a request did not continue the one before it.
                "dropped_thinking": await chats.dropped_thinking(),
                "resumed_by_supervisor": now.resumed_by_supervisor,
                **await cluster(),
            }
        )

    return routes


async def _count(chats: Chats, state: str) -> int:
    page = await chats.list(parent=None, state=state, limit=COUNTED_UP_TO, cursor=None)
    return len(page.chats)
