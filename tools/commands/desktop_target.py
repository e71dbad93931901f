"""Which desktop the commands for scripts work on."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopError, DesktopRefused
from deskhand.desktop.remote import Desktop
from deskhand.tools.control_plane.settings import BadSetting

from .control_plane import NoControlPlane, located, token_of
from .terminal import complain
from .terminal import settings as read_settings

DONE, FAILED, NOT_STARTED, INTERRUPTED = 0, 1, 4, 130

_NOT_FOUND = 404


@dataclass(frozen=True)
class Where:
    """What the command line says about the desktop that is meant."""

    url: str | None = None
    data_dir: Path | None = None
    desktop_id: str | None = None


@dataclass(frozen=True)
class TargetDesktop:
    """A desktop, with the control plane that it belongs to."""

    desktop: Desktop
    plane: DesktopClient | None
    """None when the desktop is served without one."""


class NoSuchDesktop(Exception):
    """There is no desktop of that id."""


@asynccontextmanager
async def opened(where: Where) -> AsyncIterator[TargetDesktop]:
    """Yield the desktop that is meant: by default the newest, or else a new one.

    Without a control plane it is a desktop of our own, which ends with the block.

    Raises:
        NoSuchDesktop: If one is named that is not there.
    """
    settings = read_settings({"data_dir": where.data_dir})
    address = located(settings, where.url, os.environ)
    if address is None:
        if where.desktop_id:
            raise NoControlPlane("no control plane runs here; start one with `deskhand up`")
        complain("no control plane runs here: a desktop of this command's own is used")
        async with Desktop.launch() as own:
            yield TargetDesktop(own, None)
        return
    token = token_of(settings, os.environ)
    async with DesktopClient(address, token) as plane:
        desktop_id = await _chosen(plane, where.desktop_id)
        async with Desktop.connect(address, token, desktop_id=desktop_id) as desktop:
            yield TargetDesktop(desktop, plane if desktop_id else None)


def carried_out(work: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """Do the work of one command and return its exit status."""
    try:
        asyncio.run(work())
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED
    except DesktopRefused as error:
        complain(str(error))
        return FAILED
    except (DesktopError, NoControlPlane, NoSuchDesktop, BadSetting, OSError) as error:
        complain(str(error))
        return NOT_STARTED
    return DONE


async def _chosen(plane: DesktopClient, wanted: str | None) -> str:
    """Return the desktop's id; empty when the address is that of a desktop service itself."""
    try:
        listed = (await plane.request("GET", "/api/v0/desktops"))["desktops"]
    except DesktopRefused as error:
        if error.status == _NOT_FOUND and not wanted:
            return ""
        raise
    ids = [str(desktop["id"]) for desktop in listed]
    if wanted:
        if wanted not in ids:
            raise NoSuchDesktop(f"there is no desktop {wanted}; {_known(ids)}")
        return wanted
    if ids:
        return ids[0]
    started = await plane.request("POST", "/api/v0/desktops", json={}, timeout=90.0)
    return str(started["id"])


def _known(ids: list[str]) -> str:
    return f"there are {', '.join(ids)}" if ids else "there is none"
