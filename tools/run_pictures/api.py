"""Route of the contact sheet of a run."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from deskhand.tools.control_plane.ports import Chats, Files
from deskhand.tools.control_plane.routes.files import Download, sent
from deskhand.tools.control_plane.routes.recordings import CACHE, run_video_of
from deskhand.tools.control_plane.run_video.cutter import VideoCutter
from deskhand.tools.control_plane.run_video.picture_cache import PictureCache, PictureFile
from deskhand.tools.store.errors import UnknownRow
from deskhand.vncbridge.http.file_response import bytes_response, openapi_responses

from .sheet import SELECTION, caption, point, selected, tag

SHEET = openapi_responses("image/png", in_ranges=False)


def router(chats: Chats, files: Files, cutter: VideoCutter) -> APIRouter:
    """Return the route ``/api/v0/runs/{chat_id}/sheet.png``."""
    routes = APIRouter(prefix="/api/v0/runs/{chat_id}", tags=["recordings"])
    cache = PictureCache(files)

    @routes.head("/sheet.png", include_in_schema=False)
    @routes.get("/sheet.png", response_class=Response, responses=SHEET)
    async def sheet(
        chat_id: str,
        request: Request,
        columns: Annotated[int, Query(ge=1, le=8)] = 4,
        steps: Annotated[str, Query(pattern=SELECTION)] = "all",
        download: Download = False,
    ) -> Response:
        """Send a contact sheet: a numbered picture after each step, with its click drawn.

        `steps` are `all`, `failed`, a number or a span such as `1-12`. Of more than 120 steps as
        many at equal distances are shown.
        """
        chat, found = await run_video_of(chats, files, chat_id)
        chosen = selected(found.steps(), steps)
        if not chosen:
            raise UnknownRow("step", steps)
        wanted = PictureFile(
            chat.id, tag(found, chosen, columns), f"sheet-{chat.id}.png", "image/png"
        )

        async def make() -> bytes:
            moments = [
                (
                    found.moment(step["video_end"]),
                    caption(step),
                    point(step),
                    bool(step.get("error")),
                )
                for step in chosen
            ]
            return await cutter.sheet(moments, columns)

        kept = await cache.get(wanted, make)
        if isinstance(kept, bytes):
            return bytes_response(request, kept, wanted.media_type)
        return await sent(files, kept, request, download=download, cache=CACHE)

    return routes
