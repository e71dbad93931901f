"""Routes that launch applications and open files and URLs."""

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol

from fastapi import APIRouter, Request

from deskhand.desktop.actions.fields import text, texts
from deskhand.desktop.actions.requests import decode
from deskhand.desktop.actions.schema import either, json_body
from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.fields import known
from deskhand.desktop.http_errors import answered
from deskhand.desktop.lease.access import AccessControl
from deskhand.desktop.tool_calls.caller import caller_of
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .applications import InstalledApplications

Json = dict[str, Any]


class Launcher(Protocol):
    """Starts processes that appear in the process list."""

    async def start(
        self, command: str, name: str, headers: Mapping[str, str], *, application: bool = False
    ) -> str:
        """Start a command and return its id in the process list.

        ``application`` is True for an installed program without options of the caller: it goes on
        while a person is in private.
        """

    def pid_of(self, process_id: str) -> int | None:
        """Return the pid of a program that was started, None if it is not known any more."""


def router(
    applications: InstalledApplications, launcher: Launcher, access: AccessControl
) -> APIRouter:
    """Return the routes."""
    routes = LazyRouter(prefix="/api/v0/desktop", tags=["desktop"])

    @routes.get("/applications")
    async def listed() -> Json:
        """The applications that can be launched by name."""
        found = await asyncio.to_thread(applications.all)
        return {
            "applications": [
                {"name": name, "title": one.name, "types": list(one.types)}
                for name, one in sorted(found.items())
            ]
        }

    @routes.post("/launch", openapi_extra=_LAUNCH)
    async def launch(request: Request) -> Json:
        """Launch an application by its `name` or by a `command`; `args` are added to either."""
        with answered():
            body = decode(await request.body())
            known(body, ("name", "command", "args"))
            key, value = _either(body, "name", "command")
            given = body.get("args")
            arguments = texts("args", [] if given is None else given)
            # execve(2) takes NUL-terminated strings: an argument would be cut off silently.
            if any("\0" in argument for argument in (value, *arguments)):
                raise InvalidAction("A command line must not contain NUL.")
            find = applications.by_name if key == "name" else applications.by_command
            with access.acting(caller_of(request.headers).chat_id):
                command = await asyncio.to_thread(find, value, arguments)
                # An option can make an application run any program, such as `xterm -e`.
                plain = not any(argument.startswith("-") for argument in arguments)
                installed = key == "name" and plain
                return await started(command, value.split()[0], request, installed)

    @routes.post("/open", openapi_extra=_OPEN)
    async def open_(request: Request) -> Json:
        """Open a file, a folder or an address with the application for it."""
        with answered():
            body = decode(await request.body())
            known(body, ("path", "url"))
            key, value = _either(body, "path", "url")
            if "\0" in value:
                raise InvalidAction(f'"{key}" must not contain NUL.')
            find = applications.opening_path if key == "path" else applications.opening_url
            with access.acting(caller_of(request.headers).chat_id):
                command = await asyncio.to_thread(find, value)
                return await started(command, command.split()[0], request, True)

    async def started(command: str, name: str, request: Request, application: bool) -> Json:
        identifier = await launcher.start(
            command, name[:64], request.headers, application=application
        )
        pid = launcher.pid_of(identifier)
        return {"process_id": identifier, "pid": pid, "command": command}

    return routes


def _either(body: Json, first: str, second: str) -> tuple[str, str]:
    given = [name for name in (first, second) if body.get(name) is not None]
    if len(given) != 1:
        raise InvalidAction(f'Give either "{first}" or "{second}".')
    value = text(given[0], body[given[0]]).strip()
    if not value:
        raise InvalidAction(f'"{given[0]}" is empty.')
    return given[0], value


_WORDS: Json = {"type": "string", "pattern": r"^[^\x00]*[^\s\x00][^\x00]*$"}
_ADDRESS: Json = {"type": "string", "pattern": r"^(https?|file|about):[^\x00]+$"}
_CLOSED: Json = {"type": "object", "additionalProperties": False}
_LAUNCH = json_body(
    {
        **_CLOSED,
        **either("name", "command"),
        "properties": {
            "name": _WORDS,
            "command": _WORDS,
            "args": {"type": "array", "items": {"type": "string"}},
        },
    }
)
_OPEN = json_body(
    {**_CLOSED, **either("path", "url"), "properties": {"path": _WORDS, "url": _ADDRESS}}
)
