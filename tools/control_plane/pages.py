"""The web pages of the control plane, served from memory."""

from collections.abc import Sequence
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from deskhand.vncbridge.auth.middleware import root_of
from deskhand.vncbridge.http.add_routes import add_routes
from deskhand.vncbridge.viewer.pages import FOLDER as VIEWER
from deskhand.vncbridge.viewer.pages import METHODS, PAGE_POLICY, Assets, shared_router

FOLDER = Path(__file__).parent / "assets"
_ERRORS = {403: "forbidden.html", 404: "missing.html"}


def router(embedders: Sequence[str] = ()) -> APIRouter:
    """Return the routes of the pages and of the files that they load.

    A page is the same for every id: it requests its data from the API. ``embedders`` are further
    origins that may show the pages in a frame.
    """
    assets = Assets(FOLDER, embedders)
    routes = APIRouter(include_in_schema=False)
    add_routes(routes, shared_router(Assets(VIEWER)), assets.router("/assets"))

    @routes.api_route("/", methods=METHODS)
    async def home(request: Request) -> Response:
        return assets.page("home.html", request)

    @routes.api_route("/desktops/{desktop_id}", methods=METHODS)
    async def live(desktop_id: str, request: Request) -> Response:
        return assets.page("live.html", request)

    @routes.api_route("/runs", methods=METHODS)
    async def runs(request: Request) -> Response:
        return assets.page("runs.html", request)

    @routes.api_route("/runs/{chat_id}", methods=METHODS)
    async def run(chat_id: str, request: Request) -> Response:
        return assets.page("run.html", request)

    @routes.api_route("/compare", methods=METHODS)
    async def compare(request: Request) -> Response:
        return assets.page("compare.html", request)

    @routes.api_route("/system", methods=METHODS)
    async def system(request: Request) -> Response:
        return assets.page("system.html", request)

    @routes.api_route("/try", methods=METHODS)
    async def try_page(request: Request) -> Response:
        return assets.page("try.html", request)

    return routes


class ErrorPages:
    """The pages for addresses that do not exist, or that a credential does not cover."""

    def __init__(self) -> None:
        self._texts = {status: (FOLDER / name).read_text() for status, name in _ERRORS.items()}

    def __call__(self, status: int, request: Request) -> Response | None:
        """Return the page for a status, ``None`` if it has none."""
        text = self._texts.get(status)
        if text is None:
            return None
        # Such a page is shown at any depth, and a proxy may serve all below a path of its own.
        root = root_of(request.url.path)
        policy = {"Content-Security-Policy": PAGE_POLICY, "Cache-Control": "no-store"}
        return HTMLResponse(text.replace("ROOT", root), status, policy)
