"""Routes of OSWorld whose requests or answers are files: pictures, uploads, videos.

A file is passed on as it comes, so that none is ever as a whole in the service's memory.
"""

from collections.abc import AsyncIterator, Mapping
from pathlib import PurePath

from fastapi import Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.datastructures import UploadFile
from starlette.types import Receive, Scope, Send

from deskhand.desktop.errors import DesktopRefused

from . import setup_routes
from .bodies import Json, check_names, text_of
from .errors import BadOsworldRequest
from .machine import API, DESKTOP, OsworldMachine
from .refusals import fields_of
from .setup_routes import OsworldSession

_NATIVE = {"coordinate_space": "native", "format": "png", "cursor": "true"}


class PassedOn(Response):
    """The answer of a route of ours, as it comes."""

    def __init__(
        self, machine: OsworldMachine, path: str, name: str, params: Mapping[str, str]
    ) -> None:
        super().__init__()
        self._machine, self._path, self._params = machine, path, params
        plain = "".join(one for one in name if one.isascii() and one.isprintable() and one != '"')
        self._added = {"content-disposition": f'attachment; filename="{plain}"'}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the answer on."""
        await self._machine.caller.pass_on(
            *(self._path, receive, send),
            params=self._params,
            headers=self._added,
            refused=refused,
        )


def refused(error: DesktopRefused) -> Response:
    """Return the answer for a refusal of a route of ours."""
    return JSONResponse(fields_of(error), error.status)


async def screenshot(machine: OsworldMachine, _: Request) -> Response:
    """Return the screen in its own size, with the pointer, as PNG."""
    return PassedOn(machine, f"{DESKTOP}/screenshot", "screenshot.png", _NATIVE)


async def upload(machine: OsworldMachine, request: Request) -> Response:
    """Write a file of a form."""
    async with request.form(max_files=1) as form:
        check_names(form, ("file_path", "file_data"))
        data = form.get("file_data")
        path = await setup_routes.path_of(machine, text_of(form, "file_path"))
        if not isinstance(data, UploadFile):
            raise BadOsworldRequest('"file_data" must be a file.')
        with machine.caller.step(machine.tool, path):
            done = await machine.caller.request(
                "POST", f"{API}/write-file", params={"path": path}, content=_pieces(data)
            )
    return PlainTextResponse(f"File Uploaded: {done['bytes']} bytes")


async def file(machine: OsworldMachine, body: Json) -> Response:
    """Return the content of a file."""
    path = await setup_routes.path_of(machine, text_of(body, "file_path"))
    return PassedOn(machine, f"{API}/read-file", PurePath(path).name, {"path": path})


async def end_recording(session: OsworldSession, machine: OsworldMachine, _: Request) -> Response:
    """End the recording and return its video."""
    video = await setup_routes.end_recording(machine, session)
    return PassedOn(machine, video, "recording.mp4", {})


async def wallpaper(session: OsworldSession, machine: OsworldMachine, _: Request) -> Response:
    """Return the picture that was chosen as the wallpaper."""
    path = setup_routes.wallpaper(session)
    return PassedOn(machine, f"{API}/read-file", PurePath(path).name, {"path": path})


async def _pieces(data: UploadFile) -> AsyncIterator[bytes]:
    while piece := await data.read(1024 * 1024):
        yield piece
