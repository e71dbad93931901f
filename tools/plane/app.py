"""The control plane's HTTP application, put together."""

import asyncio
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from . import (
    chats_api,
    desktops_api,
    events_api,
    files_api,
    passthrough,
    recordings_api,
    runs_api,
    status_api,
    tools_api,
)
from .answers import FAMILIES, answer
from .events_api import EventStreams
from .ports import Chats, Desktops, Editor, Files
from .status_api import About


def create_app(
    *,
    chats: Chats,
    desktops: Desktops,
    files: Files,
    editor: Callable[[], Editor],
    about: Callable[[], About],
    closing: asyncio.Event,
    ready: Callable[[], bool] = lambda: True,
    pages: Sequence[APIRouter] = (),
    lifespan: Any = None,
) -> FastAPI:
    """Return the application, still without the border that every request must cross.

    ``editor`` is asked for with the first recording that is cut.
    Set ``closing`` as soon as the end is asked for: it ends the event streams, which would keep
    the server waiting.
    """
    app = FastAPI(
        title="Deskhand control plane",
        version=about().version,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    streams = EventStreams(closing)
    for router in (
        status_api.router(about, ready, chats, desktops, streams),
        chats_api.router(chats, streams),
        tools_api.router(chats),
        files_api.router(chats, files),
        desktops_api.router(desktops, chats),
        runs_api.router(chats, files),
        recordings_api.router(chats, files, editor),
        events_api.router(chats, streams),
        *pages,
    ):
        app.include_router(router)
    app.router.routes.extend(passthrough.routes(chats, desktops))
    app.add_api_route("/docs", _docs(app), methods=["GET"], include_in_schema=False)
    for family in FAMILIES:
        app.add_exception_handler(family, _answer)
    return app


async def _answer(_: Request, error: Exception) -> Response:
    found = answer(error)
    return JSONResponse(found.to_json(), found.status)


def _docs(app: FastAPI) -> Callable[[], Any]:
    """Return the page that lists the routes; it asks nothing of any other place."""

    async def page() -> HTMLResponse:
        rows = "".join(
            f"<tr><td>{method.upper()}</td><td><code>{escape(path)}</code></td>"
            f"<td>{escape(operation.get('description', ''))}</td></tr>"
            for path, methods in app.openapi()["paths"].items()
            for method, operation in methods.items()
        )
        return HTMLResponse(
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>Deskhand API</title>'
            "<h1>Deskhand API</h1>"
            '<p>In full: <a href="openapi.json">openapi.json</a>. Below'
            " <code>/api/v0/desktops/{desktop_id}/</code> each desktop answers as its own"
            f" service.</p><table>{rows}</table></html>",
            headers={"Content-Security-Policy": "default-src 'self'; frame-ancestors 'self'"},
        )

    return page
