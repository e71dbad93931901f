"""`deskhand desktops`: list, start, end and open desktops.

Each function returns the exit status of its command.
"""

import time
from typing import Any

from deskhand.desktop.errors import DesktopError
from deskhand.desktop.network.egress import grant_for
from deskhand.tools.commands.access.url import open_link
from deskhand.tools.commands.desktop_target import chosen_desktop
from deskhand.tools.commands.exit_status import DONE
from deskhand.tools.commands.http import PlaneConnection, PlaneSelector, run_on_plane
from deskhand.tools.commands.output.screen import print_objects, print_table
from deskhand.tools.commands.runs.runs import DESKTOPS, Form
from deskhand.tools.commands.runs.summary import DESKTOP_COLUMNS, desktop_row
from deskhand.tools.commands.terminal import print_json, print_line

Json = dict[str, Any]
NONE = "there is no desktop; start one: deskhand desktops new"
START_SECONDS = 90.0
"""The control plane gives a start 60 s, so this waits longer."""


def listing(where: PlaneSelector, form: Form) -> int:
    """Print the desktops, the newest first."""

    async def work(plane: PlaneConnection) -> int:
        desktops = (await plane.client.request("GET", DESKTOPS))["desktops"]
        if form == "text":
            now = time.time()
            rows = [desktop_row(one, now) for one in desktops]
            print_table(
                DESKTOP_COLUMNS, rows, "there is no desktop; start one: deskhand desktops new"
            )
        else:
            print_objects("desktops", desktops, lines=form == "jsonl")
        return DONE

    return run_on_plane(where, work)


def new(where: PlaneSelector, order: Json, as_json: bool) -> int:
    """Start a desktop and print its id when it is ready."""

    async def work(plane: PlaneConnection) -> int:
        wanted = {name: value for name, value in order.items() if value}
        started = await plane.client.request("POST", DESKTOPS, json=wanted, timeout=START_SECONDS)
        print_json(started) if as_json else print_line(started["id"])
        return DONE

    return run_on_plane(where, work)


def open_address(where: PlaneSelector, address: str, print_only: bool, as_json: bool) -> int:
    """Start a desktop that opens an address, and open its live view in a browser.

    The desktop may reach the address, if it is of this machine or of its networks.
    """
    grant = grant_for(address)

    async def work(plane: PlaneConnection) -> int:
        order = {} if grant is None else {"grants": [str(grant)]}
        started = await plane.client.request("POST", DESKTOPS, json=order, timeout=START_SECONDS)
        path = f"{DESKTOPS}/{started['id']}"
        try:
            await plane.client.request("POST", f"{path}/desktop/open", json={"url": address})
        except DesktopError:
            # Nobody has seen its id.
            await plane.client.request("DELETE", path, timeout=START_SECONDS)
            raise
        return await open_link(plane, f"/desktops/{started['id']}", print_only, as_json)

    return run_on_plane(where, work)


def remove(where: PlaneSelector, wanted: list[str], as_json: bool) -> int:
    """End desktops; what their chats recorded is stored."""

    async def work(plane: PlaneConnection) -> int:
        # All are known before the first ends: a mistake in a name ends none.
        ids = [await chosen_desktop(plane.client, one) for one in wanted]
        for one in ids:
            await plane.client.request("DELETE", f"{DESKTOPS}/{one}", timeout=START_SECONDS)
        if as_json:
            print_json({"removed": ids})
        return DONE

    return run_on_plane(where, work)


def open_desktop_page(
    where: PlaneSelector, wanted: str | None, print_only: bool, as_json: bool
) -> int:
    """Open the live view of a desktop in a browser."""

    async def work(plane: PlaneConnection) -> int:
        found = await chosen_desktop(plane.client, wanted)
        return await open_link(plane, f"/desktops/{found}", print_only, as_json)

    return run_on_plane(where, work)
