"""Routes of the contact sheet and the report of a run."""

import asyncio
import json
from itertools import accumulate, pairwise
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from deskhand.tools.control_plane.caller import reads_conversation
from deskhand.tools.control_plane.ports import Chats, Files
from deskhand.tools.control_plane.routes.chats import whole
from deskhand.tools.control_plane.routes.files import Download, sent
from deskhand.tools.control_plane.routes.recordings import CACHE, run_video_of
from deskhand.tools.control_plane.run_video.cutter import VideoCutter
from deskhand.tools.control_plane.run_video.picture_cache import PictureCache, PictureFile
from deskhand.tools.conversation.views import FileView, MessageView
from deskhand.tools.store.errors import UnknownRow
from deskhand.vncbridge.http.file_response import bytes_response, openapi_responses

from .report import POLICY, report_html
from .sheet import SELECTION, caption, point, selected, tag

MOST_CROPS = 300
"""Pictures in a report; later steps have none."""
REPORT = openapi_responses("text/html", in_ranges=False)
SHEET = openapi_responses("image/png", in_ranges=False)


def router(chats: Chats, files: Files, cutter: VideoCutter) -> APIRouter:
    """Return the routes below ``/api/v0/runs/{chat_id}``."""
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

    @routes.head("/report.html", include_in_schema=False)
    @routes.get("/report.html", response_class=Response, responses=REPORT)
    async def report(chat_id: str, request: Request, download: Download = False) -> Response:
        """Send a report as one file that opens without a network: task, outcome, steps, times.

        The first 300 steps have pictures. A share link without the conversation gets no task.
        """
        reads = reads_conversation(request.scope)
        body = await whole(chats, chat_id, reads)
        messages = await chats.messages(chat_id) if reads else ()
        task = next((_text(one) for one in messages if one.role == "user"), "")
        pictures = await _crops(chats, files, cutter, cache, chat_id)
        html = report_html(body, pictures, task=task)
        response = bytes_response(request, html.encode(), "text/html; charset=utf-8")
        response.headers["Content-Security-Policy"] = POLICY
        if download:
            name = f"report-{body['id']}.html"
            response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
        return response

    return routes


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
