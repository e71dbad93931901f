"""Choice of the desktop that a command for scripts works on."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopError, DesktopRefused, DesktopUnavailable
from deskhand.desktop.remote import Desktop

from .control_plane import NoControlPlane, client_of, find_address, no_answer, read_token
from .terminal import print_error
from .terminal import settings as read_settings

_NOT_ALLOWED, _NOT_FOUND = 403, 404


@dataclass(frozen=True)
class DesktopSelector:
    """The options of the command line that select a desktop."""

    url: str | None = None
    data_dir: Path | None = None
    desktop_id: str | None = None


@dataclass(frozen=True)
class TargetDesktop:
    """A desktop and the control plane that it belongs to."""

    desktop: Desktop
    plane: DesktopClient | None
    """``None`` if the desktop service runs without a control plane."""


class NoSuchDesktop(DesktopError):
    """No desktop has the requested id."""


@asynccontextmanager
async def open_desktop(where: DesktopSelector) -> AsyncIterator[TargetDesktop]:
    """Yield the selected desktop: by default the newest, or a new one if there is none.

    Without a control plane, launch a desktop that ends with the block.

    Raises:
        NoSuchDesktop: If no desktop has the requested id.
    """
    settings = read_settings({"data_dir": where.data_dir})
    address = find_address(settings, where.url, os.environ)
    if address is None:
        if where.desktop_id:
            raise NoControlPlane("no control plane runs here; start one with `deskhand up`")
        print_error("no control plane runs here: a desktop of this command's own is used")
        async with Desktop.launch() as own:
            yield TargetDesktop(own, None)
        return
    try:
        async with client_of(settings, address, os.environ) as plane:
            desktop_id = await chosen_desktop(plane, where.desktop_id)
            # With an id it is part of the control plane, whose client it uses.
            reached = (
                Desktop.of_control_plane(plane, address, desktop_id, space="model", ends=False)
                if desktop_id
                else Desktop.connect(address, read_token(settings, os.environ))
            )
            async with reached as desktop:
                yield TargetDesktop(desktop, plane if desktop_id else None)
    except DesktopUnavailable as error:
        raise no_answer(address, error) from error


async def chosen_desktop(plane: DesktopClient, wanted: str | None) -> str:
    """Return the id of the wanted desktop, by default the newest or else a new one.

    Empty if the address is that of a desktop service itself.

    Raises:
        NoSuchDesktop: If no desktop has the wanted id.
    """
    try:
        listed = (await plane.request("GET", "/api/v0/desktops"))["desktops"]
    except DesktopRefused as error:
        # A desktop service has no route for the list of desktops.
        if error.status == _NOT_FOUND and not wanted:
            return ""
        # A token for one desktop may not list them.
        if error.status == _NOT_ALLOWED and wanted:
            return wanted
        raise
    ids = [str(desktop["id"]) for desktop in listed]
    if wanted:
        named = [str(desktop["id"]) for desktop in listed if desktop.get("name") == wanted]
        begun = [one for one in ids if one.startswith(wanted)]
        # An id precedes a name, and a name the beginning of an id.
        found = next(
            (some for some in ([wanted] if wanted in ids else [], named, begun) if some), []
        )
        if len(found) != 1:
            raise NoSuchDesktop(f"there is no desktop {wanted}; {_known(ids)}")
        return found[0]
    # The control plane lists the newest desktop first.
    if ids:
        return ids[0]
    # The control plane gives a start 60 s (``START_SECONDS`` of the fleet), so this waits longer.
    started = await plane.request("POST", "/api/v0/desktops", json={}, timeout=90.0)
    return str(started["id"])


def _known(ids: list[str]) -> str:
    return f"there are {', '.join(ids)}" if ids else "there is none"
