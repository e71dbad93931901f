"""`deskhand url`: a fresh sign-in link."""

import asyncio
import os
from pathlib import Path

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.tools.control_plane.settings import BadSetting

from .control_plane import NoControlPlane, find_address, read_token
from .terminal import print_error, print_line
from .terminal import settings as read_settings


def main(data_dir: Path | None, url: str | None) -> int:
    """Print the link; return the exit status."""
    try:
        print_line(asyncio.run(_link(data_dir, url)))
    except (NoControlPlane, BadSetting, DesktopRefused, DesktopUnavailable, OSError) as error:
        print_error(str(error))
        return 4
    return 0


async def _link(data_dir: Path | None, url: str | None) -> str:
    settings = read_settings({"data_dir": data_dir})
    address = find_address(settings, url, os.environ)
    if address is None:
        raise NoControlPlane("no control plane runs here; start one with `deskhand up`")
    if address.startswith("unix:"):
        raise NoControlPlane(
            f"{address} is a unix socket, which no browser opens; use --listen HOST:PORT"
        )
    async with DesktopClient(address, read_token(settings, os.environ)) as client:
        code = (await client.request("POST", "/api/v0/login/codes", json={}))["code"]
    # Browsers do not send the fragment, so the code reaches no server log.
    return f"{address}/login#code={code}"
