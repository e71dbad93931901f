"""Routes that change a chat at rest: its title, its archiving, and the context of its model."""

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from deskhand.tools.control_plane.caller import credential_id
from deskhand.tools.control_plane.errors import BadBody
from deskhand.tools.control_plane.json_body import json_object, needed_text, only, text
from deskhand.tools.control_plane.ports import Chats
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .chats import LONGEST_TEXT, LONGEST_TITLE, NON_BLANK_TEXT, body_of, shown

_EDIT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["title"],
    "properties": {"title": {"type": "string", "pattern": r"\S", "maxLength": LONGEST_TITLE}},
}
_AGAIN = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"prompt": {**NON_BLANK_TEXT, "type": ["string", "null"]}},
}


def router(chats: Chats) -> APIRouter:
    """Return the routes."""
    routes = LazyRouter(prefix="/api/v0/chats", tags=["chats"])

    @routes.patch("/{chat_id}", openapi_extra=body_of(_EDIT))
    async def edit(chat_id: str, request: Request) -> JSONResponse:
        """Change its title."""
        body = json_object(await request.body())
        only(body, "title")
        await chats.rename(chat_id, needed_text(body, "title", longest=LONGEST_TITLE))
        return await shown(chats, chat_id)

    @routes.post("/{chat_id}/run-again", status_code=201, openapi_extra=body_of(_AGAIN))
    async def run_again(chat_id: str, request: Request) -> JSONResponse:
        """Start a new chat with its task, model, budget and restrictions, or a changed task."""
        body = json_object(await request.body())
        only(body, "prompt")
        prompt = text(body, "prompt", longest=LONGEST_TEXT)
        if prompt is not None and not prompt.strip():
            raise BadBody("prompt must not be blank.", "Leave it out for the same task.")
        chat = await chats.activities.run_again(chat_id, prompt, credential_id(request.scope))
        return JSONResponse(chat.to_json(), 201)

    @routes.post("/{chat_id}/unarchive")
    async def unarchive(chat_id: str) -> JSONResponse:
        """Take it back with its children; it can receive messages again."""
        await chats.unarchive(chat_id)
        return await shown(chats, chat_id)

    @routes.post("/{chat_id}/compact")
    async def compact(chat_id: str) -> JSONResponse:
        """Begin a turn that makes a checkpoint: a summary takes the place of older messages."""
        await chats.compact(chat_id)
        return await shown(chats, chat_id)

    @routes.post("/{chat_id}/clear")
    async def clear(chat_id: str) -> JSONResponse:
        """Leave what was said so far out of the model's requests; it stays readable here."""
        await chats.clear(chat_id)
        return await shown(chats, chat_id)

    return routes
