"""The routes of one desktop below those of its control plane."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopUnavailable
from deskhand.tools.commands.control_plane import (
    NoControlPlane,
    client_of,
    find_address,
    no_answer,
)
from deskhand.tools.commands.desktop_target import DesktopSelector, chosen_desktop
from deskhand.tools.commands.terminal import settings as read_settings


@dataclass(frozen=True)
class DesktopRoutes:
    """A client, and where the routes of a desktop begin on its service."""

    client: DesktopClient
    root: str
    """Path without a slash at its end, as ``/api/v0/desktops/ID``."""

    def path(self, path: str) -> str:
        """Return the path of a route such as ``/processes/list``."""
        return self.root + path


@asynccontextmanager
async def desktop_routes(where: DesktopSelector) -> AsyncIterator[DesktopRoutes]:
    """Yield the routes of the selected desktop, by default the newest.

    Raises:
        NoControlPlane: If none runs, or it does not answer.
        NoSuchDesktop: If no desktop has the id.
    """
    settings = read_settings({"data_dir": where.data_dir})
    address = find_address(settings, where.url, os.environ)
    if address is None:
        raise NoControlPlane("no control plane runs here; start one with `deskhand up`")
    try:
        async with client_of(settings, address, os.environ) as client:
            desktop_id = await chosen_desktop(client, where.desktop_id)
            root = f"/api/v0/desktops/{desktop_id}" if desktop_id else "/api/v0"
            yield DesktopRoutes(client, root)
    except DesktopUnavailable as error:
        raise no_answer(address, error) from error
