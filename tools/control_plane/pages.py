"""The web pages of the control plane, served from memory."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from string import Template
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deskhand.vncbridge.auth.middleware import root_of
from deskhand.vncbridge.http.add_routes import add_routes
from deskhand.vncbridge.http.lazy_routes import LazyRouter
from deskhand.vncbridge.viewer.pages import FOLDER as VIEWER
from deskhand.vncbridge.viewer.pages import METHODS, PAGE_POLICY, Assets, shared_router

FOLDER = Path(__file__).parent / "assets"
_LEAST_ERROR = 400
LIVE_PAGES = ("live.html", "run.html")
TICKETS = '<meta name="live-tickets" content="yes">'
"""Makes `viewer.js` ask for the address of a live view before it opens one."""


@dataclass(frozen=True)
class Problem:
    """What a page says in place of an error, and where it leads."""

    title: str
    heading: str
    text: str
    label: str = "Go to all desktops and runs"
    link: str = "$root/"
    """With ``$root`` for the service's own address, and ``$path`` for that of the page."""


_REFUSED = Problem(
    "Not possible",
    "This cannot be shown",
    "The service refused this address. It may be incomplete, or what it names may be in use.",
)
_UNAVAILABLE = Problem(
    "No answer",
    "This does not answer now",
    "A desktop, or a part of the service that this page needs, cannot be reached. It may be"
    " starting, or have ended.",
    "Try again",
    "",
)
_PROBLEMS = {
    401: Problem(
        "Sign in",
        "You are not signed in",
        "This address is for people who are signed in, or who have a link that covers it.",
        "Sign in",
        "$root/login?next=$path",
    ),
    403: Problem(
        "Not permitted",
        "This sign-in does not permit that",
        "You are signed in with a link or a role that covers something else. Another sign-in may"
        " permit this page, or the owner of the run may share it with you.",
        "Sign in with another link",
        "$root/login",
    ),
    404: Problem(
        "No such page",
        "There is no such page",
        "The address is mistyped, or the link is of another version.",
    ),
    **dict.fromkeys((502, 503, 504), _UNAVAILABLE),
}


def router(
    embedders: Sequence[str] = (), provider: str = "", nodes: Sequence[str] = ()
) -> APIRouter:
    """Return the routes of the pages and of the files that they load.

    A page is the same for every id: it requests its data from the API. ``embedders`` are further
    origins that may show the pages in a frame. ``provider`` is the name of one by which people sign
    in, if there is one. ``nodes`` are the hosts at which pages open live views with tickets.
    """
    assets = _assets(embedders, nodes)
    routes = LazyRouter(include_in_schema=False)
    add_routes(routes, shared_router(Assets(VIEWER), provider), assets.router("/assets"))

    @routes.api_route("/", methods=METHODS)
    async def home(request: Request) -> Response:
        return assets.page("home.html", request)

    @routes.api_route("/desktops/{desktop_id}", methods=METHODS)
    async def live(desktop_id: str, request: Request) -> Response:
        return assets.page("live.html", request)

    @routes.api_route("/desktops/{desktop_id}/recordings/{recording_id}", methods=METHODS)
    async def recording(desktop_id: str, recording_id: str, request: Request) -> Response:
        return assets.page("recording.html", request)

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


def _assets(embedders: Sequence[str], nodes: Sequence[str]) -> Assets:
    assets = Assets(FOLDER, embedders, nodes)
    for name in LIVE_PAGES if nodes else ():
        assets.insert(name, "tickets", TICKETS)
    return assets


class ErrorPages:
    """The pages that a person is shown in place of an error."""

    def __init__(self) -> None:
        self._page = Template((FOLDER / "problem.html").read_text())

    def __call__(self, status: int, request: Request) -> Response:
        """Return the page for a status."""
        problem = _PROBLEMS.get(status, _REFUSED)
        # Such a page is shown at any depth, and a proxy may serve all below a path of its own.
        root = root_of(request.url.path)
        link = Template(problem.link).substitute(root=root, path=quote(request.url.path))
        text = self._page.substitute(asdict(problem) | {"root": root, "link": link})
        policy = {"Content-Security-Policy": PAGE_POLICY, "Cache-Control": "no-store"}
        return HTMLResponse(text, status, policy)


class ErrorPageMiddleware:
    """Replaces errors in JSON by pages where a person opens the address in a browser.

    It is the outermost part, as routes, access control and the desktops behind the proxy all answer
    errors in JSON.
    """

    def __init__(self, app: ASGIApp, pages: ErrorPages) -> None:
        self._app = app
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if not _opened_by_a_person(scope):
            await self._app(scope, receive, send)
            return
        replaced = False

        async def shown(message: Message) -> None:
            nonlocal replaced
            if message["type"] == "http.response.start" and _is_json_error(message):
                replaced = True
                page = self._pages(message["status"], Request(scope))
                await page(scope, receive, send)
            elif not replaced:
                await send(message)

        await self._app(scope, receive, shown)


def _opened_by_a_person(scope: Scope) -> bool:
    return (
        scope["type"] == "http"
        and scope["method"] == "GET"
        and "text/html" in Headers(scope=scope).get("accept", "")
    )


def _is_json_error(message: Message) -> bool:
    kind = Headers(raw=message["headers"]).get("content-type", "")
    return message["status"] >= _LEAST_ERROR and kind.startswith("application/json")
