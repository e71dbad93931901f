"""`deskhand ps` and `deskhand runs`: find, read, stop, answer, open and share runs.

Each function returns the exit status of its command. A run is named by its id, or by the beginning
of its id if no other recent run begins with it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from deskhand.tools.commands.access.links import sign_in_link
from deskhand.tools.commands.access.url import open_link, show
from deskhand.tools.commands.exit_status import DONE, FAILED
from deskhand.tools.commands.http import PlaneConnection, PlaneSelector, run_on_plane
from deskhand.tools.commands.output.screen import print_objects, print_table
from deskhand.tools.commands.output.table import printable
from deskhand.tools.commands.terminal import print_error, print_json, print_line, write_bytes

from .summary import ACTIVE, ALL_COLUMNS, RUN_COLUMNS, all_rows, facts, run_row

Json = dict[str, Any]
Form = Literal["text", "json", "jsonl"]

RUNS, CHATS, DESKTOPS = "/api/v0/runs", "/api/v0/chats", "/api/v0/desktops"
PAGE = 100
"""The most that a page of the list has."""
WHOLE_ID = 36
HOUR = 3600.0
MAKING_SECONDS = 90.0
"""The control plane gives the making of a picture or a report 60 s."""


def processes(where: PlaneSelector, everything: bool, form: Form) -> int:
    """Print the runs that are not at rest, or the newest, and all desktops."""

    async def work(plane: PlaneConnection) -> int:
        client = plane.client
        desktops = (await client.request("GET", DESKTOPS))["desktops"]
        found = await client.request("GET", RUNS, params={"limit": str(PAGE)})
        runs = [one for one in found["chats"] if everything or one["state"] in ACTIVE]
        if form == "json":
            print_json({"runs": runs, "desktops": desktops})
        elif form == "jsonl":
            print_objects("", [{"kind": "run", **one} for one in runs], lines=True)
            print_objects("", [{"kind": "desktop", **one} for one in desktops], lines=True)
        else:
            rows = all_rows(desktops, runs, time.time())
            print_table(ALL_COLUMNS, rows, "no run works, and there is no desktop")
        return DONE

    return run_on_plane(where, work)


def listing(where: PlaneSelector, wanted: Mapping[str, str], limit: int, form: Form) -> int:
    """Print the newest runs that meet a filter; ``wanted`` has the route's parameters."""

    async def work(plane: PlaneConnection) -> int:
        runs: list[Json] = []
        cursor = ""
        while len(runs) < limit:
            page = {**wanted, "limit": str(min(PAGE, limit - len(runs)))}
            page |= {"cursor": cursor} if cursor else {}
            found = await plane.client.request("GET", RUNS, params=page)
            runs += found["chats"]
            cursor = found["next_cursor"]
            if not cursor:
                break
        if form == "text":
            now = time.time()
            print_table(RUN_COLUMNS, [run_row(one, now) for one in runs], "there are no such runs")
        else:
            print_objects("runs", runs, lines=form == "jsonl")
        return DONE

    return run_on_plane(where, work)


def describe(where: PlaneSelector, run: str, as_json: bool) -> int:
    """Print what is known about a run."""

    async def work(plane: PlaneConnection, chat_id: str) -> int:
        found = await plane.client.request("GET", f"{RUNS}/{chat_id}")
        if as_json:
            print_json(found)
        else:
            for line in facts(found["chat"], time.time()):
                print_line(line)
        return DONE

    return on_run(where, run, work)


def stop(where: PlaneSelector, run: str, as_json: bool) -> int:
    """Stop the turn of a run; it can be sent messages afterwards."""
    return _change(where, run, "interrupt", None, as_json, "stopped")


def say(where: PlaneSelector, run: str, message: str, now: bool, as_json: bool) -> int:
    """Send a message to a run, for the end of its turn or at once."""
    body = {"message": message, "interrupt": now}
    return _change(where, run, "messages", body, as_json, "sent")


def answer(where: PlaneSelector, run: str, text: str, as_json: bool) -> int:
    """Answer the open question of a run."""
    return _change(where, run, "answer", {"answer": text}, as_json, "answered")


def open_run(where: PlaneSelector, run: str, print_only: bool, as_json: bool) -> int:
    """Open the page of a run in a browser."""

    async def work(plane: PlaneConnection, chat_id: str) -> int:
        await plane.client.request("GET", f"{CHATS}/{chat_id}")
        return await open_link(plane, f"/runs/{chat_id}", print_only, as_json)

    return on_run(where, run, work)


def share(where: PlaneSelector, run: str, hours: float, conversation: bool, as_json: bool) -> int:
    """Print a link that shows one run, until it expires."""

    async def work(plane: PlaneConnection, chat_id: str) -> int:
        chat = await plane.client.request("GET", f"{CHATS}/{chat_id}")
        part = "conversation" if conversation else "view"
        body = {
            "scopes": [f"run:{chat_id}:{part}"],
            "name": str(chat["title"])[:80],
            "ttl_s": hours * HOUR,
        }
        token = await plane.client.request("POST", "/api/v0/tokens", json=body)
        # The control plane knows its own address only; this one is known to work.
        link = f"{plane.page_url}/login?next=/runs/{chat_id}#code={token['token']}"
        if as_json:
            print_json({**token, "url": link})
            return DONE
        return show(plane, link if plane.page_url else "", as_json)

    return on_run(where, run, work)


def fetch(
    where: PlaneSelector, run: str, name: str, file: Path, wanted: Mapping[str, str], as_json: bool
) -> int:
    """Write a file that the control plane makes of a run; ``-`` is the standard output."""

    async def work(plane: PlaneConnection, chat_id: str) -> int:
        path = f"{RUNS}/{chat_id}/{name}"
        reply = await plane.client.reply("GET", path, params=wanted, timeout=MAKING_SECONDS)
        if str(file) == "-":
            write_bytes(reply.content)
            return DONE
        await asyncio.to_thread(file.write_bytes, reply.content)
        size = len(reply.content)
        print_json({"file": str(file), "bytes": size}) if as_json else print_line(str(file))
        return DONE

    return on_run(where, run, work)


def on_run(
    where: PlaneSelector, run: str, work: Callable[[PlaneConnection, str], Awaitable[int]]
) -> int:
    """Run the body of a command on the run that an id, or the beginning of one, names."""

    async def found(plane: PlaneConnection) -> int:
        ids = await matching(plane, run)
        if len(ids) != 1:
            several = f"; it may be {', '.join(ids)}" if ids else "; see deskhand runs list"
            print_error(f"there is no run {run}{several}")
            return FAILED
        return await work(plane, ids[0])

    return run_on_plane(where, found)


async def matching(plane: PlaneConnection, run: str) -> list[str]:
    """Return the ids of the runs that a name stands for; several if it is ambiguous."""
    if len(run) == WHOLE_ID:
        return [run]
    listed = await plane.client.request("GET", RUNS, params={"limit": str(PAGE)})
    return [one["id"] for one in listed["chats"] if run and one["id"].startswith(run)]


def _change(
    where: PlaneSelector, run: str, path: str, body: Json | None, as_json: bool, done: str
) -> int:
    async def work(plane: PlaneConnection, chat_id: str) -> int:
        chat = await plane.client.request("POST", f"{CHATS}/{chat_id}/{path}", json=body)
        if as_json:
            print_json(chat)
        else:
            print_line(f"{done}: {printable(str(chat['title']))}")
        return DONE

    return on_run(where, run, work)


async def link_of(plane: PlaneConnection, chat_id: str) -> str:
    """Return a link to the page of a run; its id where no browser can open one."""
    return await sign_in_link(plane, f"/runs/{chat_id}") or chat_id
