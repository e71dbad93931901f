"""Routes of OSWorld's server under ``/api/v0/desktop/as/osworld``.

A client may run any command as the agent's user, so that the service has them on request only.
"""

from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from functools import partial
from pathlib import PurePath
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from deskhand.desktop.errors import DesktopRefused
from deskhand.desktop.own_api.own_api import OwnApi
from deskhand.vncbridge.errors import ClientGone
from deskhand.vncbridge.http.disconnect import disconnected, run_unless
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from . import command_routes, file_routes, setup_routes
from .bodies import Json, check_names, object_of
from .commands import ProgramFolder
from .errors import OsworldRefusal
from .machine import DESKTOP, OsworldMachine
from .setup_routes import OsworldSession

_CLIENT_CLOSED_REQUEST = 499

_COMMAND = ("command", "shell")
_WINDOW = ("window_name", "strict", "by_class")
FIELDS: Mapping[str, Collection[str]] = {
    "/execute": _COMMAND,
    "/setup/execute": _COMMAND,
    "/setup/launch": _COMMAND,
    "/setup/execute_with_verification": (
        *(*_COMMAND, "verification", "max_wait_time", "check_interval"),
    ),
    "/run_python": ("code",),
    "/run_bash_script": ("script", "timeout", "working_dir"),
    "/setup/activate_window": _WINDOW,
    "/setup/close_window": _WINDOW,
    "/setup/open_file": ("path",),
    "/setup/change_wallpaper": ("path",),
    "/setup/download_file": ("url", "path"),
    "/window_size": ("app_class_name",),
    "/list_directory": ("path",),
}
"""Fields of the bodies of routes; the others have none."""

Work = Callable[[OsworldMachine, Json], Coroutine[Any, Any, Json | list[int] | str]]


def router(own_api: OwnApi, folder: PurePath, *, lan: bool) -> APIRouter:
    """Return the routes; ``folder`` has the programs of commands, ``lan`` is for downloads."""
    routes = LazyRouter(prefix=f"{DESKTOP}/as/osworld", include_in_schema=False)
    session, programs = OsworldSession(lan), ProgramFolder(folder)

    def serve(
        method: str, path: str, answer: Callable[[OsworldMachine, Request], Awaitable[Response]]
    ) -> None:
        async def endpoint(request: Request) -> Response:
            tool = f"osworld.{path.rpartition('/')[2]}"
            machine = OsworldMachine(own_api.for_request(request.scope), programs, tool)
            try:
                return await answer(machine, request)
            except OsworldRefusal as error:
                return JSONResponse(error.fields, error.status)
            except DesktopRefused as error:
                return file_routes.refused(error)
            except ClientGone:
                return Response(status_code=_CLIENT_CLOSED_REQUEST)

        routes.add_api_route(path, endpoint, methods=[method], response_model=None)

    for path, work in _works(session).items():
        reads = path in ("/accessibility", "/terminal", "/platform", "/cursor_position")
        serve("GET" if reads else "POST", path, partial(_answered, work, FIELDS.get(path, ())))
    serve("GET", "/screenshot", file_routes.screenshot)
    serve("POST", "/setup/upload", file_routes.upload)
    serve("POST", "/file", _file)
    serve("POST", "/end_recording", partial(file_routes.end_recording, session))
    serve("POST", "/wallpaper", partial(file_routes.wallpaper, session))
    return routes


def _works(session: OsworldSession) -> Mapping[str, Work]:
    async def platform(_: OsworldMachine, __: Json) -> str:
        return "Linux"

    async def recording(machine: OsworldMachine, _: Json) -> Json:
        return await setup_routes.start_recording(machine, session)

    names = ("change_wallpaper", "download_file")
    kept = {f"/setup/{one}": partial(getattr(setup_routes, one), session=session) for one in names}
    setup = ("activate_window", "close_window", "open_file")
    shown = ("accessibility", "screen_size", "window_size", "desktop_path", "list_directory")
    commands = ("execute", "run_python", "run_bash_script")
    prepared = ("execute", "execute_with_verification", "launch")
    return {
        "/terminal": setup_routes.terminal,
        "/platform": platform,
        "/cursor_position": setup_routes.cursor_position,
        "/start_recording": recording,
        **kept,
        **{f"/setup/{one}": getattr(setup_routes, one) for one in setup},
        **{f"/{one}": getattr(setup_routes, one) for one in shown},
        **{f"/{one}": getattr(command_routes, one) for one in commands},
        **{f"/setup/{one}": getattr(command_routes, one) for one in prepared},
    }


async def _answered(
    work: Work, names: Collection[str], machine: OsworldMachine, request: Request
) -> Response:
    body = await _body(request)
    check_names(body, names)
    # The client closes its connection to give up: what it holds down is released.
    found = await run_unless(work(machine, body), disconnected(request.receive))
    return PlainTextResponse(found) if isinstance(found, str) else JSONResponse(found)


async def _body(request: Request) -> Json:
    if request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        async with request.form() as form:
            return dict(form)
    return object_of(await request.body())


async def _file(machine: OsworldMachine, request: Request) -> Response:
    body = await _body(request)
    check_names(body, ("file_path",))
    return await file_routes.file(machine, body)
