"""Routes of the contact sheet, the trail, the waterfall and the report of a run."""

import asyncio
import json
from itertools import accumulate, pairwise
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response

from deskhand.tools.control_plane.caller import reads_conversation
from deskhand.tools.control_plane.json_body import Json
from deskhand.tools.control_plane.ports import Chats, Files
from deskhand.tools.control_plane.routes.chats import whole
from deskhand.tools.control_plane.routes.files import Download, sent
from deskhand.tools.control_plane.routes.recordings import CACHE
from deskhand.tools.control_plane.run_video.cutter import VideoCutter, existing_files, run_video_of
from deskhand.tools.control_plane.run_video.picture_cache import PictureCache, PictureFile
from deskhand.tools.control_plane.run_video.playlist import run_video
from deskhand.tools.conversation.views import FileView, MessageView
from deskhand.tools.store.errors import UnknownRow
from deskhand.vncbridge.http.add_routes import add_routes
from deskhand.vncbridge.http.file_response import bytes_response, openapi_responses
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .advice import advice as advice_of
from .report import POLICY, report_html
from .sheet import SELECTION, caption, point, selected, tag
from .trail import MOST_STEPS, background, trail_points, trail_tag
from .waterfall import waterfall as waterfall_of

PREFIX = "/api/v0/runs/{chat_id}"
MOST_CROPS = 300
"""Pictures in a report; later steps have none."""
LARGEST_VIDEO = 32 << 20
"""Bytes of a run video in a report; browsers need several times as much to show it."""
REPORTS_AT_ONCE = 2
Selection = Annotated[str, Query(pattern=SELECTION)]
REPORT = openapi_responses("text/html", in_ranges=False)
SHEET = openapi_responses("image/png", in_ranges=False)


def router(chats: Chats, files: Files, cutter: VideoCutter) -> APIRouter:
    """Return the routes below ``/api/v0/runs/{chat_id}``."""
    routes = LazyRouter(prefix=PREFIX, tags=["recordings"])
    cache = PictureCache(files)

    @routes.head("/sheet.png", include_in_schema=False)
    @routes.get("/sheet.png", response_class=Response, responses=SHEET)
    async def sheet(
        chat_id: str,
        request: Request,
        columns: Annotated[int, Query(ge=1, le=8)] = 4,
        steps: Selection = "all",
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

    add_routes(
        routes,
        _trail_and_waterfall(chats, files, cutter, cache),
        _report(chats, files, cutter, cache),
    )
    return routes


def _trail_and_waterfall(
    chats: Chats, files: Files, cutter: VideoCutter, cache: PictureCache
) -> APIRouter:
    routes = LazyRouter(prefix=PREFIX, tags=["recordings"])

    @routes.head("/trail.png", include_in_schema=False)
    @routes.get("/trail.png", response_class=Response, responses=SHEET)
    async def trail(
        chat_id: str, request: Request, steps: Selection = "all", download: Download = False
    ) -> Response:
        """Send one picture of the screen with all clicks of a run, or of some of its steps.

        `steps` are `all`, `failed`, a number or a span such as `1-12`. The clicks have the numbers
        of their steps, and are joined in their order.
        """
        chat, found = await run_video_of(chats, files, chat_id)
        chosen = selected(found.steps(), steps, MOST_STEPS)
        at = background(chosen)
        if at is None:
            raise UnknownRow("step", steps)
        points, name = trail_points(chosen), f"trail-{chat.id}.png"
        wanted = PictureFile(chat.id, trail_tag(found, points, at), name, "image/png")
        kept = await cache.get(wanted, lambda: cutter.trail(found.moment(at), points))
        if isinstance(kept, bytes):
            return bytes_response(request, kept, wanted.media_type)
        return await sent(files, kept, request, download=download, cache=CACHE)

    @routes.get("/waterfall")
    async def waterfall(chat_id: str, request: Request) -> JSONResponse:
        """Show what the time of a run was spent on, step by step, and what would make it faster.

        `totals` are seconds by kind. A row is a step, or a person in control, with spans
        in seconds since the first one began.
        """
        conversation = reads_conversation(request.scope)
        body = await whole(chats, chat_id, conversation)
        found = waterfall_of(body["steps"], await _people(chats, files, body, conversation))
        return JSONResponse(
            {
                "seconds": round(found.seconds, 3),
                "totals": found.totals(),
                "rows": [row.to_json() for row in found.rows],
                "advice": [one.to_json() for one in advice_of(found)],
            }
        )

    return routes


def _report(chats: Chats, files: Files, cutter: VideoCutter, cache: PictureCache) -> APIRouter:
    routes = LazyRouter(prefix=PREFIX, tags=["recordings"])
    making = asyncio.Semaphore(REPORTS_AT_ONCE)

    @routes.head("/report.html", include_in_schema=False)
    @routes.get("/report.html", response_class=Response, responses=REPORT)
    async def report(
        chat_id: str, request: Request, download: Download = False, video: bool = False
    ) -> Response:
        """Send a report as one file that opens without a network: task, outcome, steps, times.

        The first 300 steps have pictures; with `video` the run video is part of the file, unless it
        has more than 32 MiB. A share link without the conversation gets no task.
        """
        reads = reads_conversation(request.scope)
        body = await whole(chats, chat_id, reads)
        messages = await chats.messages(chat_id) if reads else ()
        task = next((_text(one) for one in messages if one.role == "user"), "")
        people = await _people(chats, files, body, reads)
        pictures = await _crops(chats, files, cutter, cache, chat_id)
        # A file with a video is held in memory several times.
        async with making:
            videos, words = await _videos(chats, files, cutter, chat_id) if video else ([], "")
            html = await asyncio.to_thread(
                lambda: report_html(
                    *(body, pictures),
                    task=task,
                    people=people,
                    videos=videos,
                    video_words=words,
                ).encode()
            )
            response = bytes_response(request, html, "text/html; charset=utf-8")
        response.headers["Content-Security-Policy"] = POLICY
        if download:
            name = f"report-{body['id']}.html"
            response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
        return response

    return routes


async def _people(chats: Chats, files: Files, body: Json, conversation: bool) -> list[Json]:
    """Return what people did in a run, as in the answer of the run."""
    found = run_video(await existing_files(files, body["recording_file_ids"]))
    done = await chats.activities.of(body["id"], found.steps(), conversation=conversation)
    return [one.to_json() for one in done]


async def _videos(
    chats: Chats, files: Files, cutter: VideoCutter, chat_id: str
) -> tuple[list[bytes], str]:
    """Return the files of a run video, or words that say why there are none."""
    try:
        _, found = await run_video_of(chats, files, chat_id)
    except UnknownRow:
        return [], "There is no recording of this run."
    size = sum(part.file.size for part in found.parts)
    if size > LARGEST_VIDEO:
        return [], f"The run video has {size / 1e6:.0f} MB, which is too much for this file."
    return [await cutter.whole(part.file) for part in found.parts], ""


async def _crops(
    chats: Chats, files: Files, cutter: VideoCutter, cache: PictureCache, chat_id: str
) -> dict[str, bytes]:
    """Return the pictures of a report by tool call; none if the run has no recording."""
    try:
        chat, found = await run_video_of(chats, files, chat_id)
    except UnknownRow:
        return {}
    steps = [step for step in found.steps() if step.get("tool_call_id")][:MOST_CROPS]
    if not steps:
        return {}

    async def make() -> bytes:
        moments = [(found.moment(step["video_end"]), point(step)) for step in steps]
        made = await cutter.crops(moments)
        return json.dumps([len(one) for one in made]).encode() + b"\n" + b"".join(made)

    name = f"crops-{chat.id}.bin"
    wanted = PictureFile(chat.id, f"crops-{tag(found, steps, 1)}", name, "application/octet-stream")
    kept = await cache.get(wanted, make)
    lengths, _, data = (kept if isinstance(kept, bytes) else await _bytes(files, kept)).partition(
        b"\n"
    )
    ends = [*accumulate(json.loads(lengths), initial=0)]
    pieces = [data[first:last] for first, last in pairwise(ends)]
    return {step["tool_call_id"]: one for step, one in zip(steps, pieces, strict=True)}


async def _bytes(files: Files, file: FileView) -> bytes:
    try:
        return await asyncio.to_thread(files.path(file.id).read_bytes)
    except FileNotFoundError:
        return b"".join([part async for part in files.stream(file.id, 0, file.size)])


def _text(message: MessageView) -> str:
    return "\n".join(str(part["text"]) for part in message.content if part.get("text"))
