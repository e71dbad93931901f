"""Routes with which any program can call the tools, with or without a chat of its own."""

import uuid

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from deskhand.tools.control_plane.caller import (
    chat_id,
    credential_id,
    limited_person,
    principal_name,
    tool_call_id,
)
from deskhand.tools.control_plane.errors import NotVisible
from deskhand.tools.control_plane.json_body import Json, json_object
from deskhand.tools.control_plane.ports import Chats
from deskhand.tools.kit.support.spec import INSUFFICIENT_STORAGE, ToolOutcome
from deskhand.vncbridge.auth.middleware import Grants, nothing_granted
from deskhand.vncbridge.auth.people import person_of
from deskhand.vncbridge.auth.scopes import Need
from deskhand.vncbridge.http.caller_headers import OWN_CHAT
from deskhand.vncbridge.http.disconnect import disconnected, run_unless
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .chats import body_of

OWN, SHARED = "own", "shared"
NO_ROOM = "The disk is almost full."


def router(chats: Chats, grants: Grants = nothing_granted) -> APIRouter:
    """Return the routes under ``/api/v0/tools``; ``grants`` are the rights of people."""
    routes = LazyRouter(prefix="/api/v0/tools", tags=["tools"])

    @routes.get("")
    async def listing() -> JSONResponse:
        """List the tools with the JSON Schemas of their arguments."""
        specs = [
            {"name": s.name, "description": s.description, "input_schema": s.schema}
            for s in chats.tool_specs()
        ]
        return JSONResponse({"tools": specs})

    @routes.post("/{name}", openapi_extra=body_of({"type": "object"}))
    async def call(name: str, request: Request) -> JSONResponse:
        """Use a tool; the body holds its arguments.

        A tool that fails answers 200 with ``error``: the call was understood and done. Where a
        disk has no room for what it would write, or for a new chat, the status is 507.
        """
        known = [spec.name for spec in chats.tool_specs()]
        if name not in known:
            detail = f"Tools: {', '.join(known)}."
            return JSONResponse({"message": f"Unknown tool: {name[:80]}.", "detail": detail}, 404)
        arguments = json_object(await request.body())
        if limited_person(request.scope):
            await _check_desktop(arguments, request, grants)
        caller = await calling_chat(chats, request)
        # For the audit log.
        request.state.tool_call = {"chat": caller}
        # Steps and recordings are joined by this id, so that every call needs one.
        call_id = tool_call_id(request.headers) or f"call_{uuid.uuid4().hex}"
        working = chats.call_tool(name, arguments, caller, call_id)
        # ``disconnected`` may receive only now: the body has been read.
        outcome = await run_unless(working, disconnected(request.receive))
        if desktop := (await chats.get(caller)).desktop_id:
            request.state.tool_call["desktop"] = desktop
        status = INSUFFICIENT_STORAGE if outcome.no_room else 200
        return JSONResponse(_reply(outcome, caller), status, {OWN_CHAT: caller})

    return routes


async def calling_chat(chats: Chats, request: Request) -> str:
    """Return the id of the chat that a request names, or of the default chat of its credential."""
    named = chat_id(request.headers)
    if named is not None:
        return (await chats.get(named)).id
    scope = request.scope
    credential = credential_id(scope)
    # A token may have the name of a person, whose chat it must not get.
    name = principal_name(scope)
    name = f"{name} {credential}" if person_of(credential) else name
    return (await chats.default_chat(name, credential)).id


async def _check_desktop(arguments: Json, request: Request, grants: Grants) -> None:
    """Refuse a desktop that the person may not control."""
    wanted = str(arguments.get("desktop") or OWN).strip()
    if wanted in (OWN, SHARED):
        return
    granted = await grants(request.scope["state"]["principal"], Need("desktop", wanted, "control"))
    if f"desktop:{wanted}:control" not in granted:
        raise NotVisible("desktop", wanted)


def _reply(outcome: ToolOutcome, caller: str) -> Json:
    if not outcome.is_error:
        return {"result": outcome.value, "caller_chat_id": caller}
    failed: Json = {"error": outcome.error, "is_error": True, "caller_chat_id": caller}
    if outcome.no_room:
        failed |= {"message": NO_ROOM, "detail": outcome.error}
    return {**failed, "result": outcome.value} if outcome.value else failed
