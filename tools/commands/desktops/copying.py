"""`deskhand cp`: files to and from desktops."""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from deskhand.tools.commands.command_body import run_status
from deskhand.tools.commands.desktop_target import DesktopSelector
from deskhand.tools.commands.exit_status import DONE, USAGE
from deskhand.tools.commands.output.amounts import size
from deskhand.tools.commands.terminal import print_error, print_json, print_line, write_bytes

from .routes import desktop_routes

STREAM = "-"
SECONDS = 600.0


@dataclass(frozen=True)
class Place:
    """A file on this machine, or on a desktop."""

    path: str
    desktop: str | None = None
    """Id of the desktop; ``None`` for this machine."""


def place_of(text: str) -> Place:
    """Return the place that an argument names: ``ID:PATH`` is on a desktop."""
    before, colon, after = text.partition(":")
    # A path of this machine with a colon is written with a slash, as scp has it.
    if colon and before and "/" not in before:
        return Place(after, before)
    return Place(text)


def copy(where: DesktopSelector, source: str, target: str, as_json: bool) -> int:
    """Copy one file; return the exit status."""
    from_, to = place_of(source), place_of(target)
    if from_.desktop is None and to.desktop is None:
        print_error("one of the two must be on a desktop, as ID:PATH; see deskhand desktops list")
        return USAGE
    if not from_.path or not to.path:
        print_error("a path is missing after the colon, as in ID:/tmp/file")
        return USAGE

    async def work() -> int:
        data = await _read(where, from_)
        written = await _write(where, to, data, PurePosixPath(from_.path).name)
        if as_json:
            print_json({"from": source, "to": written, "bytes": len(data)})
        elif written != STREAM:
            print_line(f"{written}: {size(len(data))}")
        return DONE

    return run_status(work)


async def _read(where: DesktopSelector, place: Place) -> bytes:
    if place.desktop is None:
        if place.path == STREAM:
            return await asyncio.to_thread(sys.stdin.buffer.read)
        return await asyncio.to_thread(Path(place.path).read_bytes)
    selected = DesktopSelector(where.url, where.data_dir, place.desktop)
    async with desktop_routes(selected) as routes:
        # `request` would decode a file that is served as JSON.
        reply = await routes.client.reply(
            "GET", routes.path("/read-file"), params={"path": place.path}, timeout=SECONDS
        )
    return reply.content


async def _write(where: DesktopSelector, place: Place, data: bytes, name: str) -> str:
    """Write a file and return its place; a folder gets it under ``name``."""
    if place.desktop is None:
        if place.path == STREAM:
            write_bytes(data)
            return STREAM
        return await asyncio.to_thread(_write_here, place.path, data, name)
    path = place.path + name if place.path.endswith("/") else place.path
    selected = DesktopSelector(where.url, where.data_dir, place.desktop)
    async with desktop_routes(selected) as routes:
        await routes.client.request(
            *("POST", routes.path("/write-file")),
            params={"path": path},
            content=data,
            timeout=SECONDS,
        )
    return f"{place.desktop}:{path}"


def _write_here(path: str, data: bytes, name: str) -> str:
    to = Path(path)
    to = to / name if path.endswith("/") or to.is_dir() else to
    to.write_bytes(data)
    return str(to)
