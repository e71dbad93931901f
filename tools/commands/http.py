"""How client commands find a control plane to talk to."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from deskhand.desktop.client.http import DesktopClient
from deskhand.tools.control_plane.settings import Settings

from .control_plane import located, token_of
from .up import running


@dataclass(frozen=True)
class Found:
    """A control plane, and how to call it."""

    client: DesktopClient
    """Speaks HTTP and JSON with any of our services."""
    url: str
    sign_in: str | None = None
    """A link that signs a browser in; ``None`` when only the plane itself can make one."""
    is_ending: Callable[[], bool] = lambda: False
    """Whether a control plane of our own was asked to end, as by Ctrl-C."""


@asynccontextmanager
async def connected(settings: Settings, url: str | None) -> AsyncIterator[Found]:
    """Yield the control plane that runs, or one of our own that ends with the block."""
    address = located(settings, url, os.environ)
    if address is not None:
        async with DesktopClient(address, token_of(settings, os.environ)) as client:
            yield Found(client, address)
        return
    async with (
        running(settings, any_port=True) as own,
        DesktopClient(own.address.url, own.control_plane.token) as client,
    ):
        yield Found(client, own.address.url, own.link, own.server.asked.is_set)
