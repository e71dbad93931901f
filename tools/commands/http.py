"""Connection of client commands to a control plane."""

import importlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopUnavailable
from deskhand.tools.client.running_plane import plane_pages
from deskhand.tools.control_plane.settings import Settings

from .command_body import run_status
from .control_plane import NoControlPlane, client_of, find_address, no_answer
from .terminal import settings as read_settings


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
    pages: str | None = None
    """Address of the pages, if it is another one; empty if a browser cannot open them."""

    @property
    def page_url(self) -> str:
        """Address of the pages, for links; empty if a browser cannot open them."""
        if self.pages is not None:
            return self.pages
        return "" if self.url.startswith("unix:") else self.url


@asynccontextmanager
async def connected(settings: Settings, url: str | None) -> AsyncIterator[PlaneConnection]:
    """Yield the running control plane, or start one that ends with the block."""
    address = find_address(settings, url, os.environ)
    if address is not None:
        async with _answering(address, settings) as plane:
            yield plane
        return
    # The modules of a control plane take a second to import, and only a start needs them.
    up = importlib.import_module("deskhand.tools.commands.up")
    async with (
        # The port of a control plane that ends with the command does not matter to the user.
        up.running(settings, any_port=True) as own,
        own.client() as client,
    ):
        yield PlaneConnection(
            *(client, own.local_url, await own.link(), own.server.asked.is_set),
            pages=own.address.page_url,
        )


@dataclass(frozen=True)
class PlaneSelector:
    """The options of the command line that select a control plane."""

    url: str | None = None
    data_dir: Path | None = None


@asynccontextmanager
async def running_plane(where: PlaneSelector) -> AsyncIterator[PlaneConnection]:
    """Yield the control plane that runs.

    Raises:
        NoControlPlane: If none runs, or it does not answer.
    """
    settings = read_settings({"data_dir": where.data_dir})
    address = find_address(settings, where.url, os.environ)
    if address is None:
        raise NoControlPlane("no control plane runs here; start one with `deskhand up`")
    async with _answering(address, settings) as plane:
        yield plane


@asynccontextmanager
async def _answering(address: str, settings: Settings) -> AsyncIterator[PlaneConnection]:
    try:
        async with client_of(settings, address, os.environ) as client:
            pages = plane_pages(settings.data_dir, address)
            yield PlaneConnection(client, address, pages=pages)
    except DesktopUnavailable as error:
        raise no_answer(address, error) from error


def run_on_plane(where: PlaneSelector, work: Callable[[PlaneConnection], Awaitable[int]]) -> int:
    """Run the body of a command on the control plane that runs; return the exit status.

    Errors are one line each.
    """

    async def connect() -> int:
        async with running_plane(where) as plane:
            return await work(plane)

    return run_status(connect)
