"""The routes of CDP: where the browser and its pages are found, and their WebSockets.

They pass requests to the browser's debugging pipe, whose owner is `desktop/browser`. A browser is
launched by the first request if none runs.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import JSONResponse
from starlette.requests import HTTPConnection
from starlette.websockets import WebSocket

from deskhand.desktop.browser.debugging_pipe import DebuggingPipe, PipeClient
from deskhand.desktop.errors import DesktopRefused, Occupied
from deskhand.desktop.own_api.own_api import OwnApi
from deskhand.vncbridge.http import caller_headers
from deskhand.vncbridge.http.lazy_routes import LazyRouter
from deskhand.vncbridge.websocket.client_stream import ClientStream

from .addresses import PATH, base_of, listing, version
from .connection import CdpConnection, CdpDesktop
from .errors import BrowserGone, CdpFailed
from .pipe_requests import answer_of, first_page_shown
from .root_session import RootSession

Json = dict[str, Any]

LAUNCH = "/api/v0/desktop/launch"
REFUSALS = (BrowserGone, CdpFailed, DesktopRefused, Occupied)


def router(
    own_api: OwnApi,
    pipe: Callable[[], DebuggingPipe | None],
    desktop: CdpDesktop,
    browser_id: str,
) -> APIRouter:
    """Return the routes; ``pipe`` returns that of the browser that runs."""
    routes = _Routes(own_api, pipe, desktop, browser_id)
    # Their answers have the form of the protocol, not that of our document.
    api = LazyRouter(prefix=PATH, include_in_schema=False)
    for path, serve in (("/json/version", routes.version), ("/json/list", routes.pages)):
        api.add_api_route(path, serve, methods=["GET"])
        # Playwright ends the path with a slash.
        api.add_api_route(path + "/", serve, methods=["GET"])
    api.add_api_route("/json", routes.pages, methods=["GET"])
    api.add_api_websocket_route("/devtools/browser/{name}", routes.browser)
    api.add_api_websocket_route("/devtools/page/{name}", routes.page)
    return api


class _Routes:
    def __init__(
        self,
        own_api: OwnApi,
        pipe: Callable[[], DebuggingPipe | None],
        desktop: CdpDesktop,
        browser_id: str,
    ) -> None:
        self._own_api = own_api
        self._pipe = pipe
        self._desktop = desktop
        self._browser_id = browser_id
        self._starting = asyncio.Lock()
        self._shown: DebuggingPipe | None = None
        """The pipe of the browser whose first page was shown."""

    async def version(self, request: Request, base: str = "") -> JSONResponse:
        """Show the browser's version, and the address of its WebSocket."""
        answer = await self._answer(request, "Browser.getVersion")
        return JSONResponse(version(answer, _base(request, base), self._browser_id))

    async def pages(self, request: Request, base: str = "") -> JSONResponse:
        """List the pages, each with the address of its WebSocket."""
        answer = await self._answer(request, "Target.getTargets")
        return JSONResponse(listing(answer["targetInfos"], _base(request, base)))

    async def browser(self, websocket: WebSocket, name: str) -> None:
        """Serve a client that uses the whole browser."""
        await self._serve(websocket, "Target.attachToBrowserTarget", {}, name == self._browser_id)

    async def page(self, websocket: WebSocket, name: str) -> None:
        """Serve a client that uses one page."""
        await self._serve(websocket, "Target.attachToTarget", {"targetId": name, "flatten": True})

    async def _answer(self, request: Request, method: str) -> Json:
        try:
            client = await self._connected(request)
            try:
                return await answer_of(client, method)
            finally:
                client.close()
        except REFUSALS as error:
            status, body = _refused(error)
            raise HTTPException(status, body) from error

    async def _serve(
        self, websocket: WebSocket, method: str, parameters: Json, known: bool = True
    ) -> None:
        try:
            if not known:
                raise CdpFailed("there is no such browser")
            client = await self._connected(websocket)
            try:
                session = (await answer_of(client, method, parameters))["sessionId"]
            except BaseException:
                client.close()
                raise
        except REFUSALS as error:
            status, body = _refused(error)
            await websocket.send_denial_response(JSONResponse(body, status))
            return
        chat = self._own_api.for_request(websocket.scope).chat_id
        connection = CdpConnection(self._desktop, client, RootSession(session), chat)
        try:
            await websocket.accept()
        except BaseException:
            client.close()
            raise
        stream = ClientStream(websocket)
        await stream.close(await connection.serve(stream))

    async def _connected(self, connection: HTTPConnection) -> PipeClient:
        """Return a client of the browser's pipe; launch a browser if none runs."""
        self._desktop.control.check_view()
        # Two clients at once must not launch two browsers.
        async with self._starting:
            found = self._pipe()
            if found is None:
                caller = self._own_api.for_request(connection.scope)
                with caller.step("cdp.launch", "browser"):
                    await caller.request("POST", LAUNCH, json={"name": "browser"})
                found = self._pipe()
            if found is None:
                raise BrowserGone("the browser of this desktop cannot be controlled")
            if found is not self._shown:
                await self._first_page(found)
        return found.connect()

    async def _first_page(self, pipe: DebuggingPipe) -> None:
        client = pipe.connect()
        try:
            await first_page_shown(client)
        finally:
            client.close()
        self._shown = pipe


def _base(request: Request, query: str) -> str:
    proxied = request.headers.get(caller_headers.BASE, "")
    return base_of(query, proxied, request.scope["scheme"], request.headers.get("host", ""))


def _refused(error: Exception) -> tuple[int, Json]:
    if isinstance(error, DesktopRefused):
        return error.status, {"message": error.message, "detail": error.detail}
    if isinstance(error, Occupied):
        return 409, {"message": f"{error.code}: {error}", "code": error.code}
    return 404 if isinstance(error, CdpFailed) else 503, {"message": str(error)}
