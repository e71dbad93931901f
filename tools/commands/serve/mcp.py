"""`deskhand mcp`: MCP on standard input and output."""

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deskhand.desktop.errors import DesktopUnavailable
from deskhand.desktop.mcp.errors import BadMcpOption
from deskhand.desktop.mcp.selection import ToolSelection, groups_of, pictures_of
from deskhand.desktop.mcp.tool import GROUPS
from deskhand.tools.client.running_plane import plane_trust
from deskhand.tools.commands.control_plane import NoControlPlane, find_address, read_token
from deskhand.tools.commands.terminal import print_error
from deskhand.tools.commands.terminal import settings as read_settings
from deskhand.tools.control_plane.settings import BadSetting, Settings
from deskhand.tools.mcp.host_configs import HOSTS, host_config
from deskhand.tools.mcp.plane_process import PlaneProcess
from deskhand.tools.mcp.stdio import serve
from deskhand.tools.mcp.stdio_plane import PlaneAddress, StdioPlane

USAGE = 2


def main(
    options: Mapping[str, Any], print_config: str | None, url: str | None, data_dir: Path | None
) -> int:
    """Serve until the end of the input, or print a host's settings; return the exit status."""
    try:
        selection = selected_tools(options)
        if print_config is not None:
            return _print_config(print_config, options)
        settings = read_settings({"data_dir": data_dir})
    except (BadMcpOption, BadSetting) as error:
        print_error(str(error))
        return USAGE
    connection = StdioPlane(
        lambda: _address(settings, url),
        lambda: PlaneProcess(("--data-dir", str(settings.data_dir))),
    )
    asyncio.run(serve(connection, str(options["desktop"]), selection))
    return 0


def selected_tools(options: Mapping[str, Any]) -> ToolSelection:
    """Return the tools that the options select; raises ``BadMcpOption``."""
    groups = GROUPS if options["tools"] is None else groups_of(str(options["tools"]))
    if options["desktop"] == "none":
        groups = tuple(group for group in groups if group == "agents")
    return ToolSelection(groups, bool(options["read_only"]), pictures_of(str(options["pictures"])))


def _print_config(host: str, options: Mapping[str, Any]) -> int:
    if host not in HOSTS:
        raise BadMcpOption(f"no settings are known for {host!r}; there are {', '.join(HOSTS)}")
    given = [] if options["desktop"] == "own" else ["--desktop", str(options["desktop"])]
    given += [] if options["tools"] is None else ["--tools", str(options["tools"])]
    given += ["--read-only"] if options["read_only"] else []
    given += [] if options["pictures"] == "changed" else ["--pictures", str(options["pictures"])]
    program = Path(sys.executable).with_name("deskhand")
    sys.stdout.write(host_config(host, str(program), given))
    return 0


def _address(settings: Settings, url: str | None) -> PlaneAddress | None:
    try:
        address = find_address(settings, url, os.environ)
        if address is None:
            return None
        trust = plane_trust(settings.data_dir, address, os.environ)
        return PlaneAddress(address, read_token(settings, os.environ), trust)
    except NoControlPlane as error:
        raise DesktopUnavailable(str(error)) from error
