"""``deskhand forward``: a local port for clients that send no token.

The command line replaces itself by this module: what parses the options would otherwise stay in
memory, a quarter of the whole, for as long as a viewer is connected.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from deskhand.tools.commands.command_body import run_command
from deskhand.tools.commands.control_plane import (
    NoControlPlane,
    client_of,
    find_address,
    read_token,
)
from deskhand.tools.commands.desktop_target import DesktopSelector, chosen_desktop
from deskhand.tools.commands.terminal import print_error, print_json, print_line
from deskhand.tools.commands.terminal import settings as read_settings
from deskhand.tools.forward.forward import ForwardedDesktop, ForwardOptions, forward

Json = dict[str, Any]


def command(where: DesktopSelector, options: Json, as_json: bool) -> list[str]:
    """Return the command line that replaces this process."""
    data_dir = None if where.data_dir is None else str(where.data_dir)
    selected = {"url": where.url, "data_dir": data_dir, "desktop_id": where.desktop_id}
    arguments = {"where": selected, "options": options, "as_json": as_json}
    return [sys.executable, "-m", __name__, json.dumps(arguments)]


def main(arguments: str) -> int:
    """Run the command line of `command`; return the exit status."""
    given = json.loads(arguments)
    where = given["where"]
    data_dir = None if where["data_dir"] is None else Path(where["data_dir"])
    selector = DesktopSelector(where["url"], data_dir, where["desktop_id"])
    return serve(selector, ForwardOptions(**given["options"]), given["as_json"])


def serve(where: DesktopSelector, options: ForwardOptions, as_json: bool) -> int:
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
        async with client_of(settings, address, os.environ) as client:
            desktop_id = await chosen_desktop(client, where.desktop_id)
            root = f"/api/v0/desktops/{desktop_id}/desktop" if desktop_id else "/api/v0/desktop"
            target = ForwardedDesktop(client, address, token, root)
            await forward(target, options, ready)
            print_error("the desktop has ended")

    return run_command(work)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
