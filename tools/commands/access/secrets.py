"""`deskhand secret`: give agents secrets that they type and cannot read.

Each function returns the exit status of its command.
"""

import getpass
import sys
from typing import Any

from deskhand.tools.commands.exit_status import DONE, USAGE
from deskhand.tools.commands.http import PlaneConnection, PlaneSelector, run_on_plane
from deskhand.tools.commands.output.screen import print_table
from deskhand.tools.commands.output.table import Column
from deskhand.tools.commands.terminal import print_error, print_json, print_line

Json = dict[str, Any]
SECRETS = "/api/v0/secrets"
COLUMNS = (
    Column("NAME"),
    Column("KIND", optional=3),
    Column("STATE", optional=2),
    Column("CHATS", optional=1),
    Column("DOMAINS", flexible=True),
)


def store(where: PlaneSelector, name: str, rules: Json, as_json: bool) -> int:
    """Store a secret under a name; its value is typed twice, or comes from a pipe."""
    try:
        value = _value(name)
    except (EOFError, ValueError) as error:
        print_error(str(error) or "no value was given")
        return USAGE

    async def work(plane: PlaneConnection) -> int:
        body = {"value": value} | {key: one for key, one in rules.items() if one}
        stored = await plane.client.request("PUT", f"{SECRETS}/{name}", json=body)
        print_json(stored) if as_json else print_line(f"{name} is stored")
        return DONE

    return run_on_plane(where, work)


def listing(where: PlaneSelector, as_json: bool) -> int:
    """Print the names of the secrets and where they may be typed, never the values."""

    async def work(plane: PlaneConnection) -> int:
        found = await plane.client.request("GET", SECRETS)
        if as_json:
            print_json(found)
        else:
            rows = [_row(one) for one in found["secrets"]]
            print_table(COLUMNS, rows, "there are no secrets")
        return DONE

    return run_on_plane(where, work)


def remove(where: PlaneSelector, name: str, as_json: bool) -> int:
    """Remove a secret; what was written stays masked."""

    async def work(plane: PlaneConnection) -> int:
        await plane.client.request("DELETE", f"{SECRETS}/{name}")
        print_json({"removed": name}) if as_json else None
        return DONE

    return run_on_plane(where, work)


def _value(name: str) -> str:
    """Return the value. An argument would stand in the history and in the list of processes.

    Raises:
        EOFError: If the input has none.
        ValueError: If the two typed ones differ.
    """
    if not sys.stdin.isatty():
        value = sys.stdin.read().rstrip("\n")
        if not value:
            raise EOFError
        return value
    value = getpass.getpass(f"Value of {name} (not shown): ")
    if value != getpass.getpass("Once more: "):
        raise ValueError("the two values differ; nothing was stored")
    return value


def _row(secret: Json) -> tuple[str, ...]:
    chats, domains = secret["chats"], secret["domains"]
    allowed = "all" if chats is None else ", ".join(chats) or "none"
    places = ", ".join(domains or ()) or ("anywhere" if secret.get("anywhere") else "-")
    places += " (any field)" if secret.get("any_field") else ""
    return (secret["name"], secret.get("kind", "text"), secret["state"], allowed, places)
