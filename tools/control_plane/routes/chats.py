"""Routes of chats: read them, send messages, stop, archive and delete."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response

from deskhand.desktop.profiles.profile_name import PROFILE_NAME
from deskhand.tools.agents.costs.step_times import total_times
from deskhand.tools.control_plane.caller import (
    credential_id,
    limited_person,
    principal_name,
    reads_conversation,
)
from deskhand.tools.control_plane.errors import BadBody, ChatHasNoDesktop, NotVisible
from deskhand.tools.control_plane.event_format import last_seen
from deskhand.tools.control_plane.json_body import Json, flag, json_object, needed_text, only, text
from deskhand.tools.control_plane.ports import Chats
from deskhand.tools.conversation.chat_start import FIELDS as START
from deskhand.tools.conversation.chat_start import (
    LONGEST_PATH,
    LONGEST_TIMEOUT,
    MOST_FILES,
    ChatStart,
    read_start,
)
from deskhand.tools.conversation.restrictions import FIELDS as RESTRICTIONS
from deskhand.tools.conversation.restrictions import MODES as APPROVAL_MODES
from deskhand.tools.conversation.restrictions import (
    MOST_DOMAINS,
    ChatRestrictions,
    read_restrictions,
)
from deskhand.tools.conversation.views import ChatView
from deskhand.vncbridge.auth.middleware import Grants, nothing_granted
from deskhand.vncbridge.auth.scopes import Need
from deskhand.vncbridge.http.add_routes import add_routes
from deskhand.vncbridge.http.lazy_routes import LazyRouter
from deskhand.vncbridge.http.sse import EventStreams

from .events import CONVERSATION_EVENTS, EVENTS, event_response
from .files import ATTACHMENT

LONGEST_TEXT = 100_000
LONGEST_TITLE = 200
LONGEST_NAME = 200
Limit = Annotated[int, Query(ge=1, le=100)]
MODES = ("general", "computer_use", "explore")

# A string that contains more than white space.
NON_BLANK_TEXT = {"type": "string", "pattern": r"\S", "maxLength": LONGEST_TEXT}
_MAYBE = ["string", "null"]
_START_FILE = {
    "type": "object",
    "additionalProperties": False,
    "properties": {name: {"type": "string"} for name in ("path", "content", "file_id")},
}
PROFILE = {
    "type": _MAYBE,
    "pattern": f"^{PROFILE_NAME.pattern}$",
    "description": "Name of a profile of the browser, which keeps sign-ins for later desktops.",
}
_NEW_CHAT = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "prompt": {**NON_BLANK_TEXT, "type": _MAYBE},
        "title": {"type": _MAYBE, "maxLength": LONGEST_TITLE},
        "mode": {"enum": [*MODES, None]},
        "model": {"type": _MAYBE, "maxLength": LONGEST_NAME},
        "effort": {
            "type": _MAYBE,
            "maxLength": LONGEST_NAME,
            "description": "How much the model thinks; by default that of the setting.",
        },
        "without_execute": {
            "type": "boolean",
            "description": "True for a chat without tools to run programs.",
        },
        "approval": {
            "enum": [*APPROVAL_MODES, None],
            "description": "What a person must approve; by default `risky` with a real model, "
            "`auto` with a scripted one.",
        },
        "domains": {
            "type": ["array", "null"],
            "items": {"type": "string"},
            "maxItems": MOST_DOMAINS,
            "description": "Domains of the task; with `risky`, others need an approval.",
        },
        "look_only": {
            "type": ["boolean", "null"],
            "description": "Plan mode: it looks and reads, but gives no input.",
        },
        "workdir": {
            "type": _MAYBE,
            "maxLength": LONGEST_PATH,
            "description": "Directory of its commands and relative paths, below its own one.",
        },
        "template": {"type": _MAYBE, "maxLength": LONGEST_NAME},
        "profile": PROFILE,
        "timeout_seconds": {
            "type": ["number", "null"],
            "minimum": 1,
            "maximum": LONGEST_TIMEOUT,
            "description": "Seconds after which each of its turns is stopped, waiting included.",
        },
        "record": {
            "type": ["boolean", "null"],
            "description": "False: its desktop is not recorded while it works.",
        },
        "files": {
            "type": ["array", "null"],
            # Generators of clients leave an operation out that has an array without items.
            "items": {"oneOf": [{"type": "string"}, _START_FILE]},
            "maxItems": MOST_FILES,
            "description": "Files that are in that directory before the first step: ids of stored "
            "files, or objects with `path` and `content` or `file_id`.",
        },
    },
}
_ANSWER = {
    "type": "object",
    "additionalProperties": False,
    "required": ["answer"],
    "properties": {
        "answer": {
            **NON_BLANK_TEXT,
            "description": "Any text; to an approval `approve`, `refuse` or `always`, which also "
            "approves what the same rules find later in this chat.",
        },
        "question": {
            "type": "string",
            "maxLength": LONGEST_NAME,
            "description": "Id of the question; by default the open one.",
        },
    },
}
_NEW_MESSAGE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["message"],
    "properties": {
        "message": NON_BLANK_TEXT,
        "interrupt": {"type": "boolean"},
        "after_step": {
            "type": "boolean",
            "description": "True: a chat at work reads it after its current step, instead of "
            "after its turn.",
        },
    },
}


_INTERRUPT = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "after_step": {
            "type": "boolean",
            "description": "True: the steps that run end first.",
        }
    },
}


def router(chats: Chats, streams: EventStreams, grants: Grants = nothing_granted) -> APIRouter:
    """Return the routes under ``/api/v0/chats``; ``grants`` are the rights of people."""
    routes = LazyRouter(tags=["chats"])
    parts = (
        _reading_routes(chats, streams),
        _changing_routes(chats, grants),
        _talking_routes(chats),
    )
    add_routes(routes, *parts)

    @routes.post("/api/v0/stop-all")
    async def stop_all(request: Request) -> JSONResponse:
        """Stop every turn of every chat; the chats stay and can be sent messages."""
        return JSONResponse({"stopped": await chats.stop_all(principal_name(request.scope))})

    return routes


def _reading_routes(chats: Chats, streams: EventStreams) -> APIRouter:
    routes = LazyRouter(prefix="/api/v0/chats", tags=["chats"])

    @routes.get("")
    async def listing(
        request: Request,
        parent: Annotated[str | None, Query(description="Empty: chats without a parent.")] = None,
        state: str | None = None,
        limit: Limit = 50,
        cursor: str | None = None,
    ) -> JSONResponse:
        """List chats, newest first; ``next_cursor`` asks for the next page."""
        page = await chats.list(
            parent=parent,
            state=state,
            limit=limit,
            cursor=cursor,
            by=limited_person(request.scope),
        )
        return JSONResponse(page.to_json())

    @routes.get("/{chat_id}")
    async def one(chat_id: str, request: Request) -> JSONResponse:
        """Show a chat with its steps and files."""
        return JSONResponse(await whole(chats, chat_id, reads_conversation(request.scope)))

    @routes.get("/{chat_id}/messages")
    async def messages(chat_id: str) -> JSONResponse:
        """Show what was said, oldest first."""
        # An unknown chat has no messages either; ``get`` makes it a 404 instead of an empty list.
        await chats.get(chat_id)
        stored = await chats.messages(chat_id)
        return JSONResponse({"messages": [message.to_json() for message in stored]})

    @routes.get("/{chat_id}/events", response_class=Response, responses=EVENTS)
    async def events(chat_id: str, request: Request) -> Response:
        """Stream what happens to it from now on (server-sent events)."""
        await chats.get(chat_id)
        # A browser sends the header when it connects again: the events in between are sent first.
        after = last_seen(request.headers.get("last-event-id"), streams.source)
        hidden = () if reads_conversation(request.scope) else CONVERSATION_EVENTS
        return event_response(streams, lambda: chats.events(chat_id, after), hidden)

    @routes.get("/{chat_id}/desktop", status_code=426)
    async def desktop(chat_id: str) -> Response:
        """Answer a client that did not ask for a WebSocket."""
        chat = await chats.get(chat_id)
        # The WebSocket of this path belongs to the proxy; only a plain GET arrives here.
        if chat.desktop_id is None:
            raise ChatHasNoDesktop
        text = {"message": "Open this path as a WebSocket."}
        return JSONResponse(text, 426, {"Upgrade": "websocket"})

    return routes


def _changing_routes(chats: Chats, grants: Grants) -> APIRouter:
    routes = LazyRouter(prefix="/api/v0/chats", tags=["chats"])

    @routes.post("", status_code=201, openapi_extra=body_of(_NEW_CHAT))
    async def create(request: Request) -> JSONResponse:
        """Make a chat; with a prompt it starts to work."""
        wanted = _new_chat(json_object(await request.body()))
        if limited_person(request.scope) and "start" in wanted:
            await _check_files(wanted["start"], request, grants)
        chat = await chats.create(**wanted, owner=credential_id(request.scope))
        return JSONResponse(chat.to_json(), 201)

    @routes.post("/{chat_id}/archive")
    async def archive(chat_id: str) -> JSONResponse:
        """Put it away; its recordings stay."""
        await chats.archive(chat_id)
        return await shown(chats, chat_id)

    @routes.delete("/{chat_id}", status_code=204)
    async def delete(chat_id: str) -> Response:
        """Remove it with its children, files and recordings."""
        await chats.delete(chat_id)
        return Response(status_code=204)

    return routes


def _talking_routes(chats: Chats) -> APIRouter:
    routes = LazyRouter(prefix="/api/v0/chats", tags=["chats"])

    @routes.post("/{chat_id}/messages", openapi_extra=body_of(_NEW_MESSAGE))
    async def send(chat_id: str, request: Request) -> JSONResponse:
        """Send a message; a chat at work reads it after its turn, after its step, or at once."""
        body = json_object(await request.body())
        only(body, "message", "interrupt", "after_step")
        message = needed_text(body, "message", longest=LONGEST_TEXT)
        await chats.send(
            chat_id,
            message,
            interrupt=flag(body, "interrupt"),
            after_step=flag(body, "after_step"),
        )
        by = principal_name(request.scope)
        await chats.activities.add(chat_id, "message", by, message)
        return await shown(chats, chat_id)

    @routes.post("/{chat_id}/interrupt", openapi_extra=body_of(_INTERRUPT))
    async def interrupt(chat_id: str, request: Request) -> JSONResponse:
        """Stop the turn it is in: now, or when the steps that run have ended."""
        body = json_object(await request.body())
        only(body, "after_step")
        if flag(body, "after_step"):
            # An unknown chat is refused here, as a late stop has nobody to report to.
            await chats.get(chat_id)
            chats.activities.stop_after_step(chat_id)
        else:
            await chats.interrupt(chat_id)
        await chats.activities.add(chat_id, "stop", principal_name(request.scope))
        return await shown(chats, chat_id)

    @routes.post("/{chat_id}/answer", openapi_extra=body_of(_ANSWER))
    async def answer(chat_id: str, request: Request) -> JSONResponse:
        """Answer what it asks a person; it goes on with that.

        Only the first answer counts. A later one gets 409, whose field `first` has the first.
        """
        body = json_object(await request.body())
        only(body, "answer", "question")
        await chats.get(chat_id)
        given = needed_text(body, "answer", longest=LONGEST_TEXT)
        question = text(body, "question", longest=LONGEST_NAME)
        by = principal_name(request.scope)
        await chats.answer(chat_id, given, by=by, question=question)
        await chats.activities.add(chat_id, "answer", by, given)
        return await shown(chats, chat_id)

    return routes


async def _check_files(start: ChatStart, request: Request, grants: Grants) -> None:
    """Refuse stored files of runs that the person may not see."""
    for file_id in (one.file_id for one in start.files if one.file_id is not None):
        if not await grants(request.scope["state"]["principal"], Need("file", file_id, "view")):
            raise NotVisible("file", file_id)


async def whole(chats: Chats, chat_id: str, conversation: bool) -> Json:
    """Return the JSON of a chat with its steps, their times by stage in sum, and its files.

    Attached files are part of the ``conversation``, which a share link may leave out.
    """
    chat: ChatView = await chats.get(chat_id)
    steps, files = await asyncio.gather(chats.steps(chat_id), chats.files(chat_id))
    return {
        **chat.to_json(),
        "steps": [step.to_json() for step in steps],
        "times": total_times(step.timings for step in steps),
        "files": [file.to_json() for file in files if conversation or file.kind != ATTACHMENT],
    }


def body_of(schema: Json) -> Json:
    """Return the OpenAPI description of a body that a route parses itself."""
    # A body is optional where no field is required: ``json_object`` reads an empty one as ``{}``.
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": bool(schema.get("required")), "content": content}}


async def shown(chats: Chats, chat_id: str) -> JSONResponse:
    """Return the answer that shows a chat as it is now."""
    return JSONResponse((await chats.get(chat_id)).to_json())


def _new_chat(body: Json) -> dict[str, Any]:
    fields = ("prompt", "title", "mode", "model", "effort", "without_execute")
    only(body, *fields, *RESTRICTIONS, *START)
    mode = text(body, "mode", longest=LONGEST_NAME)
    # The schema permits null for an optional field: it means the default, like an absent field.
    mode = MODES[0] if mode is None else mode
    if mode not in MODES:
        raise BadBody(f"Unknown mode: {mode}.", f"Modes: {', '.join(MODES)}.")
    prompt = text(body, "prompt", longest=LONGEST_TEXT)
    # A chat without a prompt is valid, for callers of tools; a blank prompt is a client's mistake.
    if prompt is not None and not prompt.strip():
        raise BadBody("prompt is required.", "Leave it out for a chat that only holds messages.")
    limits: dict[str, Any] = {"without_execute": True} if flag(body, "without_execute") else {}
    restrictions = read_restrictions(body)
    if restrictions != ChatRestrictions():
        limits["restrictions"] = restrictions
    effort = text(body, "effort", longest=LONGEST_NAME)
    if effort:
        limits["effort"] = effort
    start = read_start(body)
    if start != ChatStart():
        limits["start"] = start
    return {
        "prompt": prompt,
        "title": text(body, "title", longest=LONGEST_TITLE),
        "mode": mode,
        "model": text(body, "model", longest=LONGEST_NAME) or None,
        **limits,
    }
