"""Ids of runs and desktops, and names of models, that a shell completes.

It asks the control plane for at most a second, and prints no error: a person who types sees nothing
of it but a missing suggestion.
"""

import asyncio
import os
from typing import Any

from deskhand.desktop.errors import DesktopError
from deskhand.tools.agents.providers.model_table import TABLE
from deskhand.tools.commands.control_plane import NoControlPlane, client_of, find_address
from deskhand.tools.commands.output.table import printable
from deskhand.tools.commands.terminal import settings as read_settings
from deskhand.tools.control_plane.settings import BadSetting

SECONDS = 1.0
MOST = "100"
SCRIPTED = ("scripted:tour", "scripted:look", "scripted:delegate")
Json = dict[str, Any]


def candidates(kind: str) -> list[tuple[str, str]]:
    """Return the ids or names of a kind, each with a text that explains it."""
    if kind == "models":
        # A name that ends with a dash covers the ids that begin with it.
        found = [(n, str(facts.provider)) for n, facts in TABLE.items() if not n.endswith("-")]
        return [*found, *((name, "no model: plays a script") for name in SCRIPTED)]
    try:
        return asyncio.run(_listed(kind))
    except (DesktopError, NoControlPlane, BadSetting, OSError, TimeoutError):
        return []


async def _listed(kind: str) -> list[tuple[str, str]]:
    settings = read_settings({})
    address = find_address(settings, None, os.environ)
    if address is None:
        return []
    async with (
        asyncio.timeout(SECONDS),
        client_of(settings, address, os.environ) as client,
    ):
        if kind == "desktops":
            rows = (await client.request("GET", "/api/v0/desktops"))["desktops"]
            return [(row["id"], printable(row["name"])) for row in rows]
        rows = (await client.request("GET", "/api/v0/runs", params={"limit": MOST}))["chats"]
        return [(row["id"], printable(row["title"])) for row in rows]
