"""``deskhand forward``: a local port for clients that send no token."""

import os
from typing import Any

from deskhand.desktop.client.http import DesktopClient
from deskhand.tools.commands.control_plane import NoControlPlane, find_address, read_token
from deskhand.tools.commands.desktop_target import (
    DesktopSelector,
    chosen_desktop,
    run_command,
)
from deskhand.tools.commands.terminal import print_error, print_json, print_line
from deskhand.tools.commands.terminal import settings as read_settings
from deskhand.tools.forward.forward import ForwardedDesktop, ForwardOptions, forward

Json = dict[str, Any]


def main(where: DesktopSelector, options: Json, as_json: bool) -> int:
    """Forward until the desktop ends or Ctrl-C; return the exit status."""

    def ready(facts: Json) -> None:
        if as_json:
            print_json(facts)
        else:
            print_line(facts["command"])

    async def work() -> None:
        settings = read_settings({"data_dir": where.data_dir})
        address = find_address(settings, where.url, os.environ)
        if address is None:
            raise NoControlPlane("no control plane runs here; start one with `deskhand up`")
        token = read_token(settings, os.environ)
        async with DesktopClient(address, token) as client:
            desktop_id = await chosen_desktop(client, where.desktop_id)
            root = f"/api/v0/desktops/{desktop_id}/desktop" if desktop_id else "/api/v0/desktop"
            target = ForwardedDesktop(client, address, token, root)
            await forward(target, ForwardOptions(**options), ready)
            print_error("the desktop has ended")

    return run_command(work)
