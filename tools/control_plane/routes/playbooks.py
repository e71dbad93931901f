"""Routes of playbooks: the stored ones, saving of a run, and replays."""

import asyncio
import uuid
from collections.abc import Mapping
from typing import Protocol

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from deskhand.tools.control_plane.caller import tool_call_id
from deskhand.tools.control_plane.errors import BadBody
from deskhand.tools.control_plane.json_body import Json, flag, json_object, needed_text, only
from deskhand.tools.control_plane.ports import Chats
from deskhand.tools.playbooks.errors import PlaybookError
from deskhand.tools.playbooks.playbook import Playbook
from deskhand.tools.playbooks.replay.request import checked_values, request_text

from .chats import NON_BLANK_TEXT, body_of
from .tools import calling_chat

LONGEST_YAML = 1_000_000
CALLS_PER_STEP = 50
_SAVE = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "yaml": {**NON_BLANK_TEXT, "maxLength": LONGEST_YAML},
        "replace": {"type": "boolean"},
    },
    "required": ["yaml"],
}
_RUN = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "set": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "Values of the playbook's parameters.",
        }
    },
}


class StoredPlaybooks(Protocol):
    """The stored playbooks; all methods block and raise ``PlaybookError``."""

    def names(self) -> tuple[str, ...]:
        """Return the names of all playbooks."""

    def text(self, name: str) -> str:
        """Return the YAML text of a playbook."""

    def load(self, name: str) -> Playbook:
        """Read a playbook."""

    def save(
        self, text: str, patches: Mapping[str, bytes] | None = None, *, replace: bool = False
    ) -> Playbook:
        """Store a playbook under its own name."""

    def remove(self, name: str) -> None:
        """Remove a playbook."""


def router(playbooks: StoredPlaybooks, chats: Chats) -> APIRouter:
    """Return the routes under ``/api/v0/playbooks``."""
    routes = APIRouter(prefix="/api/v0/playbooks", tags=["playbooks"])

    @routes.get("")
    async def listing() -> JSONResponse:
        """List the playbooks; one that cannot be replayed has an `error` with the line."""
        names = await asyncio.to_thread(playbooks.names)
        listed = [await asyncio.to_thread(_summary, playbooks, name) for name in names]
        return JSONResponse({"playbooks": listed})

    @routes.post("", status_code=201, openapi_extra=body_of(_SAVE))
    async def save(request: Request) -> JSONResponse:
        """Store a playbook under the name in it.

        One of the same name is kept, and the answer is 409, unless `replace` is true.
        """
        body = json_object(await request.body())
        only(body, "yaml", "replace")
        replace = flag(body, "replace")
        written = needed_text(body, "yaml", longest=LONGEST_YAML)
        saved = await asyncio.to_thread(playbooks.save, written, replace=replace)
        return JSONResponse(await asyncio.to_thread(_whole, playbooks, saved.name), 201)

    @routes.get("/{name}")
    async def show(name: str) -> JSONResponse:
        """Return a playbook with its YAML text."""
        return JSONResponse(await asyncio.to_thread(_whole, playbooks, name))

    @routes.delete("/{name}", status_code=204)
    async def remove(name: str) -> Response:
        """Remove a playbook with its pictures."""
        await asyncio.to_thread(playbooks.remove, name)
        return Response(status_code=204)

    @routes.post("/{name}/runs", status_code=201, openapi_extra=body_of(_RUN))
    async def run(name: str, request: Request) -> JSONResponse:
        """Replay a playbook on a desktop of its own; the answer names the chat of the run."""
        body = json_object(await request.body())
        only(body, "set")
        values = body.get("set") or {}
        if not isinstance(values, dict) or not all(isinstance(v, str) for v in values.values()):
            raise BadBody("set must be an object of texts.")
        playbook = await asyncio.to_thread(playbooks.load, name)
        checked_values(playbook, values)
        caller = await calling_chat(chats, request)
        call_id = tool_call_id(request.headers) or f"call_{uuid.uuid4().hex}"
        arguments = {
            "prompt": request_text(playbook, values),
            "title": f"Playbook {name}",
            "model": f"playbook:{name}",
            # Steps have several calls, and a target may be scrolled to.
            "budget": {"steps": CALLS_PER_STEP * len(playbook.steps) + CALLS_PER_STEP},
        }
        outcome = await chats.call_tool("spawn_computer_use_agent", arguments, caller, call_id)
        if outcome.is_error:
            raise BadBody(str(outcome.error))
        return JSONResponse(outcome.value, 201)

    return routes


def _summary(playbooks: StoredPlaybooks, name: str) -> Json:
    try:
        playbook = playbooks.load(name)
    except PlaybookError as error:
        return {"name": name, "error": str(error)}
    return _described(playbook)


def _whole(playbooks: StoredPlaybooks, name: str) -> Json:
    return {**_summary(playbooks, name), "yaml": playbooks.text(name)}


def _described(playbook: Playbook) -> Json:
    return {
        "name": playbook.name,
        "description": playbook.description,
        "steps": len(playbook.steps),
        "parameters": {
            name: {"default": one.default, "description": one.description}
            for name, one in playbook.parameters.items()
        },
        "secrets": list(playbook.secrets),
    }
