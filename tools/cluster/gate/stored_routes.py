"""Routes of what is stored on a node: what dead desktops left, working directories, profiles."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from deskhand.desktop.profiles.profile_folder import StoredProfile
from deskhand.tools.recovery.ports import DesktopRemains, LeftRecording
from deskhand.vncbridge.http.file_response import open_file_response

from .errors import NotRemoved

RECORDING = "/remains/{desktop_id}/{recording_id}"
BYTES = "application/octet-stream"


class NodeProfiles(Protocol):
    """The named profiles of a node."""

    async def all(self) -> Sequence[StoredProfile]:
        """Return them in the order of their names."""

    async def remove(self, name: str) -> None:
        """Remove one."""


class NodeWorkdirs(Protocol):
    """The working directories of a node."""

    async def forget_workdir(self, name: str) -> None:
        """Remove one whose desktops have ended."""


class StoredRoutes:
    """Serves and removes it."""

    def __init__(
        self, remains: DesktopRemains, profiles: NodeProfiles, workdirs: NodeWorkdirs
    ) -> None:
        self._remains = remains
        self._profiles = profiles
        self._workdirs = workdirs

    @property
    def routes(self) -> Sequence[BaseRoute]:
        """The routes."""
        return (
            Route("/remains", self._list),
            Route(RECORDING + "/{file}", self._file),
            Route(RECORDING, self._remove, methods=["DELETE"]),
            Route("/workdirs/{name}", self._remove_workdir, methods=["DELETE"]),
            Route("/profiles", self._list_profiles),
            Route("/profiles/{name}", self._remove_profile, methods=["DELETE"]),
        )

    async def _list(self, _: Request) -> Response:
        found = await asyncio.to_thread(self._remains.list)
        recordings = [asdict(one) for one in found.recordings]
        return JSONResponse({"recordings": recordings, "ending": sorted(found.ending)})

    async def _file(self, request: Request) -> Response:
        name = request.path_params["file"]
        descriptor = await asyncio.to_thread(self._remains.open, _left(request), name)
        return open_file_response(request, os.fdopen(descriptor, "rb"), BYTES, name)

    async def _remove(self, request: Request) -> Response:
        try:
            await asyncio.to_thread(self._remains.remove, _left(request))
        except BlockingIOError as error:
            raise NotRemoved(f"not removed yet: {error.strerror}") from error
        return Response(status_code=204)

    async def _remove_workdir(self, request: Request) -> Response:
        await self._workdirs.forget_workdir(request.path_params["name"])
        return Response(status_code=204)

    async def _list_profiles(self, _: Request) -> Response:
        return JSONResponse({"profiles": [asdict(one) for one in await self._profiles.all()]})

    async def _remove_profile(self, request: Request) -> Response:
        await self._profiles.remove(request.path_params["name"])
        return Response(status_code=204)


def _left(request: Request) -> LeftRecording:
    parts = request.path_params
    return LeftRecording(parts["desktop_id"], parts["recording_id"], ())
