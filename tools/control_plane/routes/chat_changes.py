"""Routes that change a chat at rest: its title, its archiving, and the context of its model."""

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from deskhand.tools.control_plane.json_body import json_object, needed_text, only
from deskhand.tools.control_plane.ports import Chats

from .chats import LONGEST_TITLE, body_of, shown

_EDIT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["title"],
    "properties": {"title": {"type": "string", "pattern": r"\S", "maxLength": LONGEST_TITLE}},
}


def router(chats: Chats) -> APIRouter:
    """Return the routes."""
    routes = APIRouter(prefix="/api/v0/chats", tags=["chats"])

    @routes.patch("/{chat_id}", openapi_extra=body_of(_EDIT))
    async def edit(chat_id: str, request: Request) -> JSONResponse:
        """Change its title."""
        body = json_object(await request.body())
        only(body, "title")
        await chats.rename(chat_id, needed_text(body, "title", longest=LONGEST_TITLE))
        return await shown(chats, chat_id)

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
