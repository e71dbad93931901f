"""The HTTP API of a node, for the control planes of its cluster.

    control plane -- mutual TLS --> planes_only --> forwarding --> Unix socket of a desktop
                                        |
                                        +--> routes: desktops, what they left, files, metrics

The application decides nothing about chats and people: the control plane has done that. It reaches
no database, no bucket and no signing key.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psutil
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from deskhand.desktop.metrics.exposition import MEDIA_TYPE, exposition, process_metrics
from deskhand.tools.fleet.desktop_order import DesktopOrder

from .answers import KINDS, on_defect, on_error, on_no_route
from .bodies import json_of
from .forwarding import Clients, DesktopForwarding, forwards
from .metrics import NodeMeasurements, metrics_of
from .node_desktops import NodeDesktops
from .planes_only import Note, no_note, plane_of
from .stored_routes import NodeProfiles

Json = dict[str, Any]
DESKTOP = "/desktops/{desktop_id}"


@dataclass(frozen=True)
class NodeFacts:
    """What a node is."""

    name: str
    version: str
    places: int
    public_url: str = ""


class Gate:
    """The application; ``others`` are further routes of the node, ``note`` its audit log."""

    def __init__(
        self,
        facts: NodeFacts,
        desktops: NodeDesktops,
        clients: Clients,
        profiles: NodeProfiles,
        others: Sequence[BaseRoute] = (),
        note: Note = no_note,
    ) -> None:
        self._note = note
        self._facts = facts
        self._desktops = desktops
        self._profiles = profiles
        self._process = psutil.Process()
        self._forwarding = DesktopForwarding(clients)
        self._routes = Starlette(
            routes=[
                Route("/healthz", self._health),
                Route("/node", self._node),
                Route("/metrics", self._metrics),
                Route("/desktops", self._start, methods=["POST"]),
                Route(DESKTOP, self._stop, methods=["DELETE"]),
                Route(f"{DESKTOP}/display", self._show, methods=["POST"]),
                *others,
            ],
            exception_handlers={
                **dict.fromkeys(KINDS, on_error),
                HTTPException: on_no_route,
                Exception: on_defect,
            },
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        # Nearly all requests are for desktops, and a router would try each of its routes first.
        is_forwarded = scope["type"] != "lifespan" and forwards(scope["raw_path"])
        await (self._forwarding if is_forwarded else self._routes)(scope, receive, send)

    async def _health(self, _: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _node(self, _: Request) -> Response:
        desktops = await self._desktops.all()
        facts: Json = {
            "name": self._facts.name,
            "version": self._facts.version,
            "places": self._facts.places,
            "room_problem": await self._desktops.room_problem(),
            "draining": self._desktops.draining,
            "public_url": self._facts.public_url,
            "profiles": [one.name for one in await self._profiles.all()],
            "desktops": desktops,
        }
        return JSONResponse(facts)

    async def _metrics(self, _: Request) -> Response:
        measured = NodeMeasurements(
            self._facts.name,
            self._facts.version,
            self._facts.places,
            running=len(await self._desktops.all()),
            starting=self._desktops.starting,
            failures=self._desktops.failures,
            has_room=not await self._desktops.room_problem(),
        )
        used = self._process.cpu_times()
        cost = process_metrics(used.user + used.system, self._process.memory_info().rss)
        text = exposition([*metrics_of(measured), *cost])
        return Response(text, media_type=MEDIA_TYPE, headers={"Cache-Control": "no-store"})

    async def _start(self, request: Request) -> Response:
        order = DesktopOrder.of_json(await json_of(request))
        started = await self._desktops.start(order)
        self._note(plane_of(request.scope), "node.start", order.id, {"chat": order.chat_id or ""})
        return JSONResponse(started)

    async def _stop(self, request: Request) -> Response:
        desktop_id = request.path_params["desktop_id"]
        await self._desktops.stop(desktop_id)
        self._note(plane_of(request.scope), "node.end", desktop_id, {})
        return Response(status_code=204)

    async def _show(self, request: Request) -> Response:
        return JSONResponse(await self._desktops.show(request.path_params["desktop_id"]))
