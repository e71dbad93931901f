"""Pages and their files, served from memory."""

import hashlib
import html
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter, HTTPException, Request, Response

from deskhand.vncbridge.http.etags import matches
from deskhand.vncbridge.http.lazy_routes import LazyRouter

FOLDER = Path(__file__).parent / "assets"
MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
PLAIN = "text/plain; charset=utf-8"
PAGE_POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'self'"
)
"""noVNC displays images and cursors from data URLs."""
METHODS = ["GET", "HEAD"]


class Asset(NamedTuple):
    """One file."""

    data: bytes
    media_type: str
    etag: str


class Assets:
    """The files of a folder, read by the constructor.

    A desktop service drops its privileges before it serves, and may then be unable to read its
    own package. ``embedders`` are the origins, besides its own, that may frame its pages.
    ``viewed`` are the hosts, besides its own, to which its pages may open WebSockets.
    """

    def __init__(
        self, folder: Path, embedders: Sequence[str] = (), viewed: Sequence[str] = ()
    ) -> None:
        connect = " ".join(("connect-src 'self'", *(f"wss://{host}" for host in viewed)))
        self._policy = " ".join((*((connect + ";",) if viewed else ()), PAGE_POLICY, *embedders))
        self._assets = {
            path.relative_to(folder).as_posix(): _read(path)
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }

    def get(self, name: str) -> Asset:
        """Return a file by its path in the folder; ``KeyError`` when there is none."""
        return self._assets[name]

    def page(self, name: str, request: Request, status: int = 200) -> Response:
        """Return a response with a page, which may load resources of this service only."""
        response = _answer(self.get(name), request)
        if status != 200:
            response.status_code = status
        response.headers["Content-Security-Policy"] = self._policy
        response.headers["Referrer-Policy"] = "same-origin"
        return response

    def insert(self, name: str, place: str, element: str) -> None:
        """Replace the comment ``place`` of a page by an element."""
        text = self.get(name).data.decode().replace(f"<!-- {place} -->", element)
        self._assets[name] = _asset(text.encode(), MEDIA_TYPES[".html"])

    def router(self, prefix: str) -> APIRouter:
        """Return the route of all files below ``prefix`` except pages, which have their own."""
        routes = LazyRouter()

        @routes.api_route(prefix + "/{name:path}", methods=METHODS, include_in_schema=False)
        async def asset(name: str, request: Request) -> Response:
            found = self._assets.get(name)
            # Only `page` adds the security headers of pages.
            if found is None or name.endswith(".html"):
                raise HTTPException(404, "File not found.")
            return _answer(found, request)

        return routes


def router(assets: Assets) -> APIRouter:
    """Return the routes of a desktop service's pages: the viewer at ``/``, and the sign-in.

    ``assets`` are those of `FOLDER`. The first route of a process loads more of the web framework.
    """
    routes = shared_router(assets)

    @routes.api_route("/", methods=METHODS, include_in_schema=False)
    async def viewer(request: Request) -> Response:
        return assets.page("viewer.html", request)

    return routes


def shared_router(assets: Assets, provider: str = "") -> APIRouter:
    """Return the routes that every service with a viewer has: its files and the sign-in page.

    The page has a button for the sign-in by ``provider``, the name of one, if there is one.
    """
    routes = assets.router("/viewer")
    if provider:
        label = f"Sign in with {html.escape(provider)}"
        button = f'<a id="provider" class="as-button" href="login/oidc">{label}</a>'
        assets.insert("login.html", "provider", button)

    @routes.api_route("/login", methods=METHODS, include_in_schema=False)
    async def login(request: Request) -> Response:
        return assets.page("login.html", request)

    return routes


def _read(path: Path) -> Asset:
    return _asset(path.read_bytes(), MEDIA_TYPES.get(path.suffix, PLAIN))


def _asset(data: bytes, media_type: str) -> Asset:
    digest = hashlib.sha256(data).hexdigest()[:20]
    return Asset(data, media_type, f'"{digest}"')


def _answer(asset: Asset, request: Request) -> Response:
    headers = {
        "ETag": asset.etag,
        # Browsers revalidate every time and get 304: after an upgrade no page loads a module of
        # another version.
        "Cache-Control": "no-cache",
        "X-Content-Type-Options": "nosniff",
    }
    if matches(request.headers.get("if-none-match"), asset.etag):
        return Response(status_code=304, headers=headers)
    return Response(asset.data, media_type=asset.media_type, headers=headers)
