"""Routes of the run video, like those of a recording of a desktop service."""

from contextlib import suppress
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response

from deskhand.recording.library.steps import chapters_from_rows
from deskhand.tools.control_plane.caller import reads_conversation
from deskhand.tools.control_plane.json_body import Json
from deskhand.tools.control_plane.ports import Chats, Files
from deskhand.tools.control_plane.run_video.cutter import VideoCutter, run_video_of
from deskhand.tools.control_plane.run_video.durations import duration
from deskhand.tools.control_plane.run_video.filmstrips import MEDIA_TYPE, Filmstrips
from deskhand.tools.control_plane.run_video.picture_cache import PictureCache, PictureFile
from deskhand.tools.control_plane.run_video.playlist import (
    RunVideo,
    VideoPart,
    clip_etag,
)
from deskhand.tools.conversation.views import ChatView
from deskhand.tools.run_activities.chapters import chapter_rows
from deskhand.tools.store.errors import UnknownRow
from deskhand.vncbridge.http.add_routes import add_routes
from deskhand.vncbridge.http.file_response import (
    bytes_response,
    open_file_response,
    openapi_responses,
    unchanged_response,
)
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .files import Download, sent

PREFIX = "/api/v0/recordings/{chat_id}"

# The video is revalidated at each request: another turn may extend it.
CACHE = "private, no-cache"

LARGEST_ANIMATION = 8_000_000
"""Bytes; chats and pull requests show pictures up to about this size."""

STILL = openapi_responses("image/jpeg", in_ranges=False)
CHAPTERS = openapi_responses("text/vtt", in_ranges=False)

Part = Annotated[int | None, Query(description="Number of the file.")]


def router(chats: Chats, files: Files, filmstrips: Filmstrips) -> APIRouter:
    """Return the routes under ``/api/v0/recordings/{chat_id}``."""
    routes = LazyRouter()
    add_routes(
        routes,
        _whole(chats, files),
        _clips(chats, files, filmstrips.cutter),
        _stills(chats, files, filmstrips),
    )
    return routes


def _whole(chats: Chats, files: Files) -> APIRouter:
    routes = LazyRouter(prefix=PREFIX, tags=["recordings"])

    @routes.get("")
    async def recording(chat_id: str) -> JSONResponse:
        """Show a run's recordings as one video: its files, steps and map of real to video time."""
        return JSONResponse(_run_video_json(*await run_video_of(chats, files, chat_id)))

    @routes.delete("", status_code=204)
    async def delete(chat_id: str) -> Response:
        """Remove a run's recordings; the run stays."""
        chat, found = await run_video_of(chats, files, chat_id)
        made = [file.id for file in await files.pictures(chat_id)]
        for file_id in (*(part.file.id for part in found.parts), chat.thumbnail_file_id, *made):
            if file_id is not None:
                # Another request, or retention, may have removed the file after the list was read.
                with suppress(UnknownRow):
                    await files.delete(file_id)
        return Response(status_code=204)

    @routes.head("/video", include_in_schema=False)
    @routes.get("/video", response_class=Response, responses=openapi_responses("video/mp4"))
    async def video(
        chat_id: str, request: Request, part: Part = None, download: Download = False
    ) -> Response:
        """Send one file of the video, by default the first; answers ranges."""
        _, found = await run_video_of(chats, files, chat_id)
        file = _part(found, part).file
        return await sent(files, file, request, download=download, cache=CACHE)

    @routes.head("/thumbnail", include_in_schema=False)
    @routes.get("/thumbnail", response_class=Response, responses=openapi_responses("image/jpeg"))
    async def thumbnail(chat_id: str, request: Request, download: Download = False) -> Response:
        """Send a small picture of the most telling moment."""
        chat, _ = await run_video_of(chats, files, chat_id)
        if chat.thumbnail_file_id is None:
            raise UnknownRow("thumbnail", chat_id)
        file = await files.get(chat.thumbnail_file_id)
        return await sent(files, file, request, download=download, cache=CACHE)

    return routes


def _clips(chats: Chats, files: Files, cutter: VideoCutter) -> APIRouter:
    routes = LazyRouter(prefix=PREFIX, tags=["recordings"])
    pictures = PictureCache(files)

    @routes.head("/clip", include_in_schema=False)
    @routes.get("/clip", response_class=Response, responses=openapi_responses("video/mp4"))
    async def clip(
        chat_id: str,
        request: Request,
        # ``ge`` refuses NaN, but not infinity; ``to`` has no bound and would accept both.
        start: Annotated[float, Query(alias="from", ge=0, allow_inf_nan=False)] = 0.0,
        end: Annotated[float | None, Query(alias="to", allow_inf_nan=False)] = None,
        download: Download = False,
        kind: Annotated[Literal["mp4", "gif", "webp"], Query(alias="format")] = "mp4",
        width: Annotated[int, Query(ge=64, le=1280)] = 640,
    ) -> Response:
        """Send a section of the run video, in seconds of video, cut without encoding it again.

        With `format` a `gif` or `webp` of at most `width` pixels and 8 MB, at a lower frame rate.
        """
        chat, found = await run_video_of(chats, files, chat_id)
        pieces = found.pieces(start, end)
        name, tag = f"clip-{chat.id}.{kind}", clip_etag(pieces)
        if kind != "mp4":
            wanted = PictureFile(chat.id, f"{tag}-{kind}-{width}", name, f"image/{kind}")
            kept = await pictures.get(
                wanted, lambda: cutter.animation(pieces, kind, width, LARGEST_ANIMATION)
            )
            if isinstance(kept, bytes):
                return bytes_response(request, kept, wanted.media_type)
            return await sent(files, kept, request, download=download, cache=CACHE)
        unchanged = unchanged_response(request, name, tag)
        if unchanged is not None:
            return unchanged
        cut = await cutter.clip(pieces)
        response = open_file_response(request, cut, "video/mp4", name, tag)
        if download:
            response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
        return response

    return routes


def _stills(chats: Chats, files: Files, filmstrips: Filmstrips) -> APIRouter:
    routes = LazyRouter(prefix=PREFIX, tags=["recordings"])

    @routes.head("/steps/{index}/picture", include_in_schema=False)
    @routes.get("/steps/{index}/picture", response_class=Response, responses=STILL)
    async def step_picture(chat_id: str, index: int, request: Request) -> Response:
        """Send a small picture of the screen when a step had ended."""
        _, found = await run_video_of(chats, files, chat_id)
        steps = found.steps()
        if not 0 <= index < len(steps):
            raise UnknownRow("step", f"{index}")
        still = await filmstrips.cutter.still(found.moment(steps[index]["video_end"]))
        return bytes_response(request, still, "image/jpeg")

    @routes.head("/filmstrip", include_in_schema=False)
    @routes.get("/filmstrip", response_class=Response, responses=STILL)
    async def filmstrip(chat_id: str, request: Request) -> Response:
        """Send small pictures of the run video, in equal distances, as one picture.

        `filmstrip` in the answer of a run describes its tiles.
        """
        strip = await filmstrips.get(chat_id)
        if isinstance(strip, bytes):
            return bytes_response(request, strip, MEDIA_TYPE)
        return await sent(files, strip, request, download=False, cache=CACHE)

    @routes.head("/steps.vtt", include_in_schema=False)
    @routes.get("/steps.vtt", response_class=Response, responses=CHAPTERS)
    async def steps_vtt(chat_id: str, request: Request, part: Part = None) -> Response:
        """Send the steps, and what people did, as chapters of the run video or of one file."""
        _, found = await run_video_of(chats, files, chat_id)
        # Chapters of one file count from its own begin, as a player shows them beside that file
        # alone.
        shown = found if part is None else _part(found, part).alone()
        steps = shown.steps()
        people = await chats.activities.of(
            chat_id, steps, conversation=reads_conversation(request.scope)
        )
        began = shown.parts[0].file.metadata.get("started_at", 0.0)
        time_map = [(began + real, video) for real, video in shown.time_map()]
        text = chapters_from_rows(chapter_rows(steps, people, time_map), shown.seconds)
        return bytes_response(request, text.encode(), "text/vtt; charset=utf-8")

    return routes


def _part(found: RunVideo, index: int | None) -> VideoPart:
    part = found.part(index)
    if part is None:
        raise UnknownRow("part", f"{index}")
    return part


def _run_video_json(chat: ChatView, found: RunVideo) -> Json:
    address = f"api/v0/recordings/{chat.id}"
    files = [part.file for part in found.parts]
    return {
        "id": chat.id,
        "status": chat.recording_status,
        "end_reason": chat.end_reason,
        "complete": chat.complete,
        "started_at": files[0].metadata.get("started_at"),
        "duration_s": duration([file.metadata for file in files]),
        "video_s": round(found.seconds, 3),
        "bytes": sum(file.size for file in files),
        "pinned": all(file.pinned for file in files),
        "parts": [
            {
                "index": part.index,
                "file_id": part.file.id,
                "bytes": part.file.size,
                "video_start": round(part.begins, 3),
                "video_s": round(part.seconds, 3),
                "end_reason": part.end_reason,
                "video_url": f"{address}/video?part={part.index}",
            }
            for part in found.parts
        ],
        "steps": [
            step | {"picture_url": f"{address}/steps/{step['index']}/picture"}
            for step in found.steps()
        ],
        "time_map": found.time_map(),
        "video_url": f"{address}/video?part={found.parts[0].index}",
        "thumbnail_url": f"{address}/thumbnail",
        "steps_url": f"{address}/steps.vtt",
    }
