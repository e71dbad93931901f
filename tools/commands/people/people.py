"""`deskhand people`: who may sign in, with which role, and links that sign a person in once.

Each function returns the exit status of its command. People are named by their name or their id.
"""

import time
from typing import Any

from deskhand.tools.commands.exit_status import DONE, FAILED
from deskhand.tools.commands.http import PlaneConnection, PlaneSelector, run_on_plane
from deskhand.tools.commands.output.amounts import age
from deskhand.tools.commands.output.screen import print_table
from deskhand.tools.commands.output.table import Column
from deskhand.tools.commands.terminal import print_error, print_json, print_line

Json = dict[str, Any]
PEOPLE = "/api/v0/people"
COLUMNS = (
    Column("NAME", flexible=True),
    Column("ROLE"),
    Column("SIGNED IN", optional=1),
    Column("ID"),
)
NOBODY = "there is one owner, without a name; add people with `deskhand people add NAME`"


def add(where: PlaneSelector, name: str, role: str, as_json: bool) -> int:
    """Add a person and print the link that signs the person in."""

    async def work(plane: PlaneConnection) -> int:
        made = await plane.client.request("POST", PEOPLE, json={"name": name, "role": role})
        print_json(made) if as_json else print_line(_link(plane, made))
        return DONE

    return run_on_plane(where, work)


def link(where: PlaneSelector, name: str, as_json: bool) -> int:
    """Print another link that signs a person in."""

    async def work(plane: PlaneConnection) -> int:
        person = await _find(plane, name)
        if person is None:
            return FAILED
        made = await plane.client.request("POST", f"{PEOPLE}/{person['id']}/links", json={})
        print_json(made) if as_json else print_line(_link(plane, made))
        return DONE

    return run_on_plane(where, work)


def listing(where: PlaneSelector, as_json: bool) -> int:
    """Print the people."""

    async def work(plane: PlaneConnection) -> int:
        found = await plane.client.request("GET", PEOPLE)
        if as_json:
            print_json(found)
        else:
            now = time.time()
            print_table(COLUMNS, [_row(one, now) for one in found["people"]], NOBODY)
        return DONE

    return run_on_plane(where, work)


def change(where: PlaneSelector, name: str, role: str, as_json: bool) -> int:
    """Give a person another role."""

    async def work(plane: PlaneConnection) -> int:
        person = await _find(plane, name)
        if person is None:
            return FAILED
        path = f"{PEOPLE}/{person['id']}"
        changed = await plane.client.request("PATCH", path, json={"role": role})
        print_json(changed) if as_json else None
        return DONE

    return run_on_plane(where, work)


def remove(where: PlaneSelector, names: list[str], as_json: bool) -> int:
    """Remove people; their sessions end and their runs stay."""

    async def work(plane: PlaneConnection) -> int:
        removed = []
        for name in names:
            person = await _find(plane, name)
            if person is None:
                return FAILED
            await plane.client.request("DELETE", f"{PEOPLE}/{person['id']}")
            removed.append(person["id"])
        print_json({"removed": removed}) if as_json else None
        return DONE

    return run_on_plane(where, work)


async def _find(plane: PlaneConnection, name: str) -> Json | None:
    found: Json = await plane.client.request("GET", PEOPLE)
    for person in found["people"]:
        if name == person["id"] or name.casefold() == person["name"].casefold():
            return dict(person)
    print_error(f"there is no person {name}; see deskhand people list")
    return None


def _link(plane: PlaneConnection, made: Json) -> str:
    # A control plane on a Unix socket does not know under which address it is published.
    return str(made["url"]) if made["url"].startswith("http") else f"{plane.url}{made['url']}"


def _row(person: Json, now: float) -> tuple[str, ...]:
    last = person.get("signed_in_at")
    when = "never" if last is None else f"{age(now - last)} ago"
    return (person["name"], person["role"], when, person["id"])
