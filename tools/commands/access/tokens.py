"""`deskhand token`: tokens for programs, and the share links that are tokens too.

Each function returns the exit status of its command.
"""

import time
from typing import Any

from deskhand.tools.commands.exit_status import DONE
from deskhand.tools.commands.http import PlaneConnection, PlaneSelector, run_on_plane
from deskhand.tools.commands.output.amounts import age
from deskhand.tools.commands.output.screen import print_table
from deskhand.tools.commands.output.table import Column
from deskhand.tools.commands.terminal import print_json, print_line

Json = dict[str, Any]
TOKENS = "/api/v0/tokens"
HOUR = 3600.0
COLUMNS = (
    Column("ID"),
    Column("EXPIRES", optional=1),
    Column("NAME", optional=2),
    Column("SCOPES", flexible=True),
)


def new(
    where: PlaneSelector, scopes: list[str], name: str, hours: float | None, as_json: bool
) -> int:
    """Make a token and print it; it is shown once."""

    async def work(plane: PlaneConnection) -> int:
        body: Json = {"scopes": scopes, "name": name}
        body |= {} if hours is None else {"ttl_s": hours * HOUR}
        made = await plane.client.request("POST", TOKENS, json=body)
        print_json(made) if as_json else print_line(made["token"])
        return DONE

    return run_on_plane(where, work)


def listing(where: PlaneSelector, as_json: bool) -> int:
    """Print the tokens that work."""

    async def work(plane: PlaneConnection) -> int:
        found = await plane.client.request("GET", TOKENS)
        if as_json:
            print_json(found)
        else:
            now = time.time()
            rows = [_row(one, now) for one in found["tokens"]]
            print_table(COLUMNS, rows, "there are no tokens but the one of the control plane")
        return DONE

    return run_on_plane(where, work)


def remove(where: PlaneSelector, ids: list[str], as_json: bool) -> int:
    """End tokens, and every session that was opened with them."""

    async def work(plane: PlaneConnection) -> int:
        for one in ids:
            await plane.client.request("DELETE", f"{TOKENS}/{one}")
        print_json({"removed": ids}) if as_json else None
        return DONE

    return run_on_plane(where, work)


def _row(token: Json, now: float) -> tuple[str, ...]:
    ends = token.get("expires_at")
    expires = "never" if ends is None else f"in {age(ends - now)}"
    return (token["id"], expires, token.get("name") or "-", ", ".join(token["scopes"]))
