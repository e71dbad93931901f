"""Route of the wallpaper."""

from typing import Any

from fastapi import APIRouter, Request

from deskhand.desktop.files import schema
from deskhand.desktop.files.api import FileRoute
from deskhand.desktop.files.disk import absolute
from deskhand.desktop.files.requests import Query
from deskhand.desktop.http_errors import answered, refusal
from deskhand.desktop.lease.access import AccessControl
from deskhand.desktop.tool_calls.caller import caller_of
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .wallpaper import Wallpaper


def router(wallpaper: Wallpaper | None, access: AccessControl) -> APIRouter:
    """Return the route; without ``wallpaper`` it answers 501."""
    routes = LazyRouter(prefix="/api/v0/desktop", route_class=FileRoute, tags=["desktop"])

    @routes.put("/wallpaper", openapi_extra=schema.STATUS)
    async def show_wallpaper(request: Request) -> dict[str, Any]:
        """Show a picture file behind all windows; only where `osworld` is on."""
        query = Query(request.query_params, ("path",))
        path = query.text("path")
        query.check()
        if wallpaper is None:
            detail = "it needs a screen of this desktop, and --speak osworld"
            raise refusal(501, "The wallpaper cannot be changed here.", detail)
        with answered(), access.acting(caller_of(request.headers).chat_id):
            await wallpaper.show(absolute(path))
        return {"message": f"Successfully showed {path!r}."}

    return routes
