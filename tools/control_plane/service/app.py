"""Composition of the control plane's HTTP application from its routers."""

import asyncio
import errno
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse, Response

from deskhand.desktop.network.egress import EgressPolicy
from deskhand.tools.control_plane.http_errors import FAMILIES, answer
from deskhand.tools.control_plane.ports import Chats, Desktops, Files, Json
from deskhand.tools.control_plane.proxy import proxy
from deskhand.tools.control_plane.routes import chat_changes as chat_changes_api
from deskhand.tools.control_plane.routes import chats as chats_api
from deskhand.tools.control_plane.routes import desktops as desktops_api
from deskhand.tools.control_plane.routes import events as events_api
from deskhand.tools.control_plane.routes import files as files_api
from deskhand.tools.control_plane.routes import recordings as recordings_api
from deskhand.tools.control_plane.routes import runs as runs_api
from deskhand.tools.control_plane.routes import status as status_api
from deskhand.tools.control_plane.routes import tools as tools_api
from deskhand.tools.control_plane.routes.status import ServiceFacts
from deskhand.tools.control_plane.run_video.filmstrips import Filmstrips
from deskhand.tools.run_pictures import api as run_pictures_api
from deskhand.tools.store.errors import DiskLow
from deskhand.vncbridge.auth.middleware import Grants, nothing_granted
from deskhand.vncbridge.http.add_routes import add_routes
from deskhand.vncbridge.http.sse import EventStreams
from deskhand.vncbridge.server.docs_page import router as docs

_BELOW_DESKTOPS = (
    "Below <code>/api/v0/desktops/{desktop_id}/</code> each desktop answers as its own service. "
    'Requests can be tried at <a href="try">try</a>.'
)


async def _no_cluster() -> Json:
    return {}


def create_app(
    *,
    chats: Chats,
    desktops: Desktops,
    files: Files,
    filmstrips: Filmstrips,
    about: Callable[[], ServiceFacts],
    closing: asyncio.Event,
    disk: Callable[[], Json],
    ready: Callable[[], bool] = lambda: True,
    pages: Sequence[APIRouter] = (),
    grants: Grants = nothing_granted,
    egress: EgressPolicy | None = None,
    owner_name: Callable[[str], Awaitable[str]] = runs_api.no_owner,
    lifespan: Any = None,
    plane: str = "",
    cluster: Callable[[], Awaitable[Json]] = _no_cluster,
) -> FastAPI:
    """Return the application, still without the middleware that authorizes requests.

    The cutter of ``filmstrips`` is that of all routes, as it limits how many clips and pictures are
    made at once. Set ``closing`` as soon as the service is asked to end: it ends the event streams,
    for which the server would wait otherwise. ``grants`` are the rights of people, ``egress`` is
    that of new desktops, ``owner_name`` returns the name of the person who started a run. ``plane``
    is the id of this control plane, if several have the same chats. ``cluster`` returns what only
    the status of a cluster has.
    """
    app = FastAPI(
        title="Deskhand control plane",
        version=about().version,
        # FastAPI's own documentation pages load scripts from a CDN; the router of ``docs`` replaces
        # them.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    streams = EventStreams(closing, source=plane)
    add_routes(
        app,
        status_api.router(about, ready, chats, desktops, streams, disk, cluster),
        chats_api.router(chats, streams, grants),
        chat_changes_api.router(chats),
        tools_api.router(chats, grants),
        files_api.router(chats, files),
        desktops_api.router(desktops, chats, grants, egress),
        runs_api.router(chats, files, owner_name),
        recordings_api.router(chats, files, filmstrips),
        run_pictures_api.router(chats, files, filmstrips.cutter),
        events_api.router(chats, streams),
        *pages,
    )
    # The first matching route answers: the proxy's path covers all that is below a desktop's id,
    # also the tickets route of ``pages``, so that it must come after these.
    app.router.routes.extend(proxy.routes(chats, desktops))
    add_routes(app, docs(_BELOW_DESKTOPS))
    for family in FAMILIES:
        # Starlette finds a handler by the classes of the error's MRO, so subclasses need none of
        # their own.
        app.add_exception_handler(family, _answer)
    app.add_exception_handler(OSError, _answer_full_disk)
    return app


async def _answer_full_disk(_: Request, error: Exception) -> Response:
    if not isinstance(error, OSError) or error.errno not in (errno.ENOSPC, errno.EDQUOT):
        raise error
    response = answer(DiskLow(f"Nothing was stored: {error.strerror}."))
    return JSONResponse(response.to_json(), response.status, response.headers)


async def _answer(_: Request, error: Exception) -> Response:
    response = answer(error)
    return JSONResponse(response.to_json(), response.status, response.headers)
