"""Connection of client commands to a control plane."""

import importlib
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from deskhand.desktop.client.http import DesktopClient
from deskhand.tools.control_plane.settings import Settings

from .control_plane import find_address, read_token


@dataclass(frozen=True)
class PlaneConnection:
    """A control plane and a client for it."""

    client: DesktopClient
    """Client for HTTP and JSON, for every Deskhand service."""
    url: str
    sign_in: str | None = None
    """A link that signs a browser in; ``None`` if the control plane is another process."""
    is_ending: Callable[[], bool] = lambda: False
    """Returns whether the own control plane was requested to end, as by Ctrl-C."""


@asynccontextmanager
async def connected(settings: Settings, url: str | None) -> AsyncIterator[PlaneConnection]:
    """Yield the running control plane, or start one that ends with the block."""
    address = find_address(settings, url, os.environ)
    if address is not None:
        async with DesktopClient(address, read_token(settings, os.environ)) as client:
            yield PlaneConnection(client, address)
        return
    # The modules of a control plane take a second to import, and only a start needs them.
    up = importlib.import_module("deskhand.tools.commands.up")
    async with (
        # The port of a control plane that ends with the command does not matter to the user.
        up.running(settings, any_port=True) as own,
        DesktopClient(own.address.url, own.control_plane.token) as client,
    ):
        yield PlaneConnection(client, own.address.url, own.link, own.server.asked.is_set)
