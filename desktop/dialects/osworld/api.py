"""Routes of OSWorld's server under ``/api/v0/desktop/as/osworld``.

A client may run any command as the agent's user, so that the service has them on request only.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from functools import partial
from pathlib import PurePath
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.datastructures import UploadFile
from starlette.types import Receive, Scope, Send

from deskhand.desktop.errors import DesktopRefused
from deskhand.desktop.own_api.own_api import OwnApi
from deskhand.vncbridge.errors import ClientGone
from deskhand.vncbridge.http.disconnect import disconnected, run_unless

from . import command_routes, setup_routes
from .bodies import Json, object_of, text_of
from .commands import ProgramFolder
from .errors import BadOsworldRequest, OsworldRefusal
from .machine import API, DESKTOP, OsworldMachine
from .refusals import fields_of
from .setup_routes import OsworldSession

_CLIENT_CLOSED_REQUEST = 499
_NATIVE = {"coordinate_space": "native", "format": "png", "cursor": "true"}

Work = Callable[[OsworldMachine, Json], Coroutine[Any, Any, Json | list[int] | str]]


class _PassedOn(Response):
    """The answer of a route of ours, as it comes."""

    def __init__(
        self, machine: OsworldMachine, path: str, name: str, params: Mapping[str, str]
    ) -> None:
        super().__init__()
        self._machine, self._path, self._params = machine, path, params
        plain = "".join(one for one in name if one.isascii() and one.isprintable() and one != '"')
        self._added = {"content-disposition": f'attachment; filename="{plain}"'}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._machine.caller.pass_on(
            *(self._path, receive, send),
            params=self._params,
            headers=self._added,
            refused=_refused,
        )


def router(own_api: OwnApi, folder: PurePath, *, lan: bool) -> APIRouter:
    """Return the routes; ``folder`` has the programs of commands, ``lan`` is for downloads."""
    routes = APIRouter(prefix=f"{DESKTOP}/as/osworld", include_in_schema=False)
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
                return _refused(error)
            except ClientGone:
                return Response(status_code=_CLIENT_CLOSED_REQUEST)

        routes.add_api_route(path, endpoint, methods=[method], response_model=None)

    for path, work in _works(session).items():
        reads = path in ("/accessibility", "/terminal", "/platform", "/cursor_position")
        serve("GET" if reads else "POST", path, partial(_answered, work))
    serve("GET", "/screenshot", _screenshot)
    serve("POST", "/setup/upload", _upload)
    serve("POST", "/file", _file)
    serve("POST", "/end_recording", partial(_end_recording, session))
    serve("POST", "/wallpaper", partial(_wallpaper, session))
    return routes


def _works(session: OsworldSession) -> Mapping[str, Work]:
    async def terminal(_: OsworldMachine, __: Json) -> Json:
        # The text of a terminal is not in the tree of widgets; a client polls this at its start.
        return {"output": None, "status": "success"}

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
        "/terminal": terminal,
        "/platform": platform,
        "/cursor_position": setup_routes.cursor_position,
        "/start_recording": recording,
        **kept,
        **{f"/setup/{one}": getattr(setup_routes, one) for one in setup},
        **{f"/{one}": getattr(setup_routes, one) for one in shown},
        **{f"/{one}": getattr(command_routes, one) for one in commands},
        **{f"/setup/{one}": getattr(command_routes, one) for one in prepared},
    }


async def _answered(work: Work, machine: OsworldMachine, request: Request) -> Response:
    body = await _body(request)
    # The client closes its connection to give up: what it holds down is released.
    found = await run_unless(work(machine, body), disconnected(request.receive))
    return PlainTextResponse(found) if isinstance(found, str) else JSONResponse(found)


async def _body(request: Request) -> Json:
    if request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        async with request.form() as form:
            return dict(form)
    return object_of(await request.body())


async def _screenshot(machine: OsworldMachine, _: Request) -> Response:
    return _PassedOn(machine, f"{DESKTOP}/screenshot", "screenshot.png", _NATIVE)


async def _upload(machine: OsworldMachine, request: Request) -> Response:
    async with request.form(max_files=1) as form:
        data = form.get("file_data")
        path = await setup_routes.path_of(machine, text_of(form, "file_path"))
        if not isinstance(data, UploadFile):
            raise BadOsworldRequest('"file_data" must be a file.')
        with machine.caller.step(machine.tool, path):
            done = await machine.caller.request(
                "POST", f"{API}/write-file", params={"path": path}, content=_pieces(data)
            )
    return PlainTextResponse(f"File Uploaded: {done['bytes']} bytes")


async def _pieces(data: UploadFile) -> AsyncIterator[bytes]:
    while piece := await data.read(1024 * 1024):
        yield piece


async def _file(machine: OsworldMachine, request: Request) -> Response:
    path = await setup_routes.path_of(machine, text_of(await _body(request), "file_path"))
    return _PassedOn(machine, f"{API}/read-file", PurePath(path).name, {"path": path})


async def _end_recording(session: OsworldSession, machine: OsworldMachine, _: Request) -> Response:
    video = await setup_routes.end_recording(machine, session)
    return _PassedOn(machine, video, "recording.mp4", {})


async def _wallpaper(session: OsworldSession, machine: OsworldMachine, _: Request) -> Response:
    path = setup_routes.wallpaper(session)
    return _PassedOn(machine, f"{API}/read-file", PurePath(path).name, {"path": path})


def _refused(error: DesktopRefused) -> Response:
    return JSONResponse(fields_of(error), error.status)
