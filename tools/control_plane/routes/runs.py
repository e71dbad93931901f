"""Routes of runs: the list of all recordings, and the data of the page of one run."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from deskhand.tools.control_plane.caller import limited_person, reads_conversation, rights_to
from deskhand.tools.control_plane.json_body import Json
from deskhand.tools.control_plane.ports import Chats, Files
from deskhand.tools.control_plane.run_video.cutter import existing_files, numbered
from deskhand.tools.control_plane.run_video.durations import duration, seconds, total
from deskhand.tools.control_plane.run_video.filmstrip import described
from deskhand.tools.control_plane.run_video.playlist import RunVideo, run_video
from deskhand.tools.conversation.views import ChatView, FileView
from deskhand.tools.store.errors import UnknownRow
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .chats import Limit, whole

HUMAN = "human"
"""Tool of the steps by which a recorder describes control sessions."""


async def no_owner(chat_id: str) -> str:
    """Return no name, for a control plane without people."""
    return ""


def router(
    chats: Chats, files: Files, owner_name: Callable[[str], Awaitable[str]] = no_owner
) -> APIRouter:
    """Return the routes of recordings and runs; ``owner_name`` returns the person of a run."""
    routes = LazyRouter(prefix="/api/v0", tags=["recordings"])

    @routes.get("/recordings")
    async def recordings(
        request: Request, limit: Limit = 20, cursor: str | None = None
    ) -> JSONResponse:
        """List the chats that have recordings, newest first, each with its video's length."""
        page = await chats.recorded(limit, cursor, limited_person(request.scope))
        # One query for the files of all chats: a page may have a hundred.
        known = await files.existing([i for chat in page.chats for i in chat.recording_file_ids])
        listed = [_summary(known, chat) for chat in page.chats]
        return JSONResponse({"recordings": listed, "next_cursor": page.next_cursor})

    @routes.get("/runs/{chat_id}")
    async def run(chat_id: str, request: Request) -> JSONResponse:
        """Show a chat with its steps, files, recordings and children in one answer.

        `changed_turns` are the turns whose steps differ from those that the control plane had at
        their end; it keeps a hash of the last step of each turn. `people` are messages, answers
        and stops of people, and the times in which they were in control. `owner` is the name of
        the person who started it; `rights` are `write`, `stop` or `read`. `reads_conversation` is
        false for a share link that leaves the messages out.
        """
        conversation = reads_conversation(request.scope)
        body = await whole(chats, chat_id, conversation)
        found = run_video(await existing_files(files, body["recording_file_ids"]))
        # The page of a run shows its children too: one answer saves a request for each.
        below = await asyncio.gather(*(chats.get(child) for child in body["children"]))
        people = await chats.activities.of(chat_id, found.steps(), conversation=conversation)
        return JSONResponse(
            {
                "chat": {**body, "steps": _with_times(body["steps"], found)},
                "changed_turns": list(await chats.changed_turns(chat_id)),
                "recordings": _parts(chat_id, found),
                "video": _run_video_json(chat_id, found),
                "thumbnail_url": _address(body["thumbnail_file_id"]),
                "children": [child.to_json() for child in below],
                "people": [one.to_json() for one in people],
                "owner": await owner_name(chat_id),
                "rights": rights_to(request.scope, chat_id),
                "reads_conversation": conversation,
            }
        )

    @routes.put("/runs/{chat_id}/pin")
    async def pin(chat_id: str) -> JSONResponse:
        """Keep a run's recordings whatever their age and the room."""
        return JSONResponse(await _pin(chats, files, chat_id, pinned=True))

    @routes.delete("/runs/{chat_id}/pin")
    async def unpin(chat_id: str) -> JSONResponse:
        """Let a run's recordings go when they are old, or the room is short."""
        return JSONResponse(await _pin(chats, files, chat_id, pinned=False))

    return routes


async def _pin(chats: Chats, files: Files, chat_id: str, *, pinned: bool) -> Json:
    chat = await chats.get(chat_id)
    if not chat.recording_file_ids:
        raise UnknownRow("recording", chat_id)
    wanted = (*chat.recording_file_ids, chat.thumbnail_file_id)
    done = []
    for file_id in filter(None, wanted):
        with suppress(UnknownRow):
            # A person may have removed this part; the others can still be pinned.
            done.append((await files.pin(file_id, pinned)).id)
    if not done:
        raise UnknownRow("recording", chat_id)
    return {"chat_id": chat_id, "pinned": pinned, "file_ids": done}


def _summary(known: Mapping[str, FileView], chat: ChatView) -> Json:
    found = run_video(numbered(known, chat.recording_file_ids))
    # Sums cover the files that still exist, not those that the chat once had.
    videos = [part.file for part in found.parts]
    return {
        "chat_id": chat.id,
        "parent_id": chat.parent_id,
        "title": chat.title,
        "outcome": chat.outcome,
        "recording_status": chat.recording_status,
        "end_reason": chat.end_reason,
        "complete": chat.complete,
        "created_at": chat.created_at,
        "step_count": chat.step_count,
        "recording_file_id": chat.recording_file_id,
        "recording_file_ids": list(chat.recording_file_ids),
        "thumbnail_file_id": chat.thumbnail_file_id,
        "thumbnail_url": _address(chat.thumbnail_file_id),
        "run_url": f"runs/{chat.id}",
        "bytes": sum(video.size for video in videos),
        "video_s": total([part["video_s"] for part in _parts(chat.id, found)]),
        "duration_s": duration([video.metadata for video in videos]),
        "pinned": bool(videos) and all(video.pinned for video in videos),
    }


def _with_times(steps: list[Json], found: RunVideo) -> list[Json]:
    """Return the steps with their times in the run video, in place of those in their recording."""
    positions_by_call = found.positions_by_call()
    return [
        step
        | dict(
            zip(("video_start", "video_end"), positions_by_call[step["tool_call_id"]], strict=True)
        )
        if step["tool_call_id"] in positions_by_call
        else step
        for step in steps
    ]


def _run_video_json(chat_id: str, found: RunVideo) -> Json | None:
    """Return what the time line of a run's page shows beside the steps."""
    if not found.parts:
        return None
    began = found.parts[0].file.metadata.get("started_at", 0.0)
    keys = ("index", "title", "text", "started_at", "ended_at", "video_start", "video_end")
    return {
        "seconds": round(found.seconds, 3),
        "time_map": [[round(began + real, 3), video] for real, video in found.time_map()],
        "sessions": [
            {key: step.get(key) for key in keys}
            for step in found.steps()
            if step.get("tool") == HUMAN
        ],
        "filmstrip": described(found, f"api/v0/recordings/{chat_id}"),
    }


def _parts(chat_id: str, found: RunVideo) -> list[Json]:
    """Return the JSON of the videos in their order, each with its own length and chapters."""
    return [
        {
            **_video_json(part.file),
            "part": part.position,
            "video_s": seconds(part.file.metadata, part.position),
            # Without a leading slash: a reverse proxy may serve the control plane below a path.
            "chapters_url": f"api/v0/recordings/{chat_id}/steps.vtt?part={part.index}",
        }
        for part in found.parts
    ]


def _video_json(video: FileView) -> Json:
    return {
        "file_id": video.id,
        "url": _address(video.id),
        "name": video.name,
        "media_type": video.media_type,
        "bytes": video.size,
        "created_at": video.created_at,
        "pinned": video.pinned,
        "metadata": video.metadata,
    }


def _address(file_id: str | None) -> str | None:
    """Return the address of a file, relative to the control plane's root."""
    return f"api/v0/files/{file_id}" if file_id else None
