"""Routes of playbooks: the stored ones, saving of a run, and replays."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from deskhand.tools.control_plane.caller import tool_call_id
from deskhand.tools.control_plane.errors import BadBody
from deskhand.tools.control_plane.json_body import Json, flag, json_object, needed_text, only, text
from deskhand.tools.control_plane.ports import Chats
from deskhand.tools.playbooks.errors import PlaybookError
from deskhand.tools.playbooks.playbook import Playbook
from deskhand.tools.playbooks.replay.request import checked_values, request_text
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .chats import NON_BLANK_TEXT, body_of
from .tools import calling_chat

LONGEST_YAML = 1_000_000
LONGEST_NAME = 100
CALLS_PER_STEP = 50
_SAVE = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "run": {**NON_BLANK_TEXT, "description": "Id of the chat whose run is saved."},
        "yaml": {**NON_BLANK_TEXT, "maxLength": LONGEST_YAML, "description": "Or a playbook."},
        "name": {"type": "string", "maxLength": LONGEST_NAME},
        "replace": {"type": "boolean"},
    },
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


class SavedRuns(Protocol):
    """Conversion of runs to stored playbooks."""

    async def save(self, chat_id: str, name: str | None, *, replace: bool) -> Playbook:
        """Store the newest run of a chat, named after its title by default."""


async def always_room() -> None:
    """Accept new playbooks whatever the disk has."""


def router(
    playbooks: StoredPlaybooks,
    saving: SavedRuns,
    chats: Chats,
    check_room: Callable[[], Awaitable[None]] = always_room,
) -> APIRouter:
    """Return the routes under ``/api/v0/playbooks``.

    ``check_room`` raises `DiskLow` if nothing new is stored.
    """
    routes = LazyRouter(prefix="/api/v0/playbooks", tags=["playbooks"])

    @routes.get("")
    async def listing() -> JSONResponse:
        """List the playbooks; one that cannot be replayed has an `error` with the line."""
        names = await asyncio.to_thread(playbooks.names)
        listed = [await asyncio.to_thread(_summary, playbooks, name) for name in names]
        return JSONResponse({"playbooks": listed})

    @routes.get("/{name}")
    async def show(name: str) -> JSONResponse:
        """Return a playbook with its YAML text."""
        return JSONResponse(await asyncio.to_thread(_whole, playbooks, name))

    @routes.delete("/{name}", status_code=204)
    async def remove(name: str) -> Response:
        """Remove a playbook with its pictures."""
        await asyncio.to_thread(playbooks.remove, name)
        return Response(status_code=204)

    _add_saving(routes, playbooks, saving, check_room)
    _add_replays(routes, playbooks, chats)
    return routes


def _add_saving(
    routes: APIRouter,
    playbooks: StoredPlaybooks,
    saving: SavedRuns,
    check_room: Callable[[], Awaitable[None]],
) -> None:
    @routes.post("", status_code=201, openapi_extra=body_of(_SAVE))
    async def save(request: Request) -> JSONResponse:
        """Save the newest run of a chat as a playbook, or store one that was written by hand.

        A playbook that is written by hand is stored under the name in it. One of the same name is
        kept, and the answer is 409, unless `replace` is true.
        """
        body = json_object(await request.body())
        only(body, "run", "yaml", "name", "replace")
        replace = flag(body, "replace")
        if (body.get("run") is None) == (body.get("yaml") is None):
            raise BadBody("Give either run or yaml.")
        await check_room()
        if body.get("yaml") is None:
            name = text(body, "name", longest=LONGEST_NAME)
            run = needed_text(body, "run", longest=LONGEST_NAME)
            saved = await saving.save(run, name, replace=replace)
        elif body.get("name") is not None:
            raise BadBody("name goes with run: a playbook has its name in it.")
        else:
            written = needed_text(body, "yaml", longest=LONGEST_YAML)
            saved = await asyncio.to_thread(playbooks.save, written, replace=replace)
        return JSONResponse(await asyncio.to_thread(_whole, playbooks, saved.name), 201)


def _add_replays(routes: APIRouter, playbooks: StoredPlaybooks, chats: Chats) -> None:
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
