"""`deskhand url` and `deskhand open`: a fresh sign-in link, for a browser."""

import asyncio
import webbrowser

from deskhand.tools.commands.exit_status import DONE, NOT_STARTED
from deskhand.tools.commands.http import PlaneConnection, PlaneSelector, run_on_plane
from deskhand.tools.commands.terminal import print_error, print_json, print_line

from .links import sign_in_link


def main(where: PlaneSelector, as_json: bool = False) -> int:
    """Print the link; return the exit status."""

    async def work(plane: PlaneConnection) -> int:
        return show(plane, await sign_in_link(plane), as_json)

    return run_on_plane(where, work)


def show(plane: PlaneConnection, link: str, as_json: bool) -> int:
    """Print a link; return the exit status."""
    if not link:
        print_error(f"{plane.url} is a unix socket, which no browser opens; use --listen HOST:PORT")
        return NOT_STARTED
    print_json({"url": link}) if as_json else print_line(link)
    return DONE


def open_page(where: PlaneSelector, page: str, print_only: bool, as_json: bool) -> int:
    """Open a page in the user's browser, signed in."""
    return run_on_plane(where, lambda plane: open_link(plane, page, print_only, as_json))


async def open_link(plane: PlaneConnection, page: str, print_only: bool, as_json: bool) -> int:
    """Open a page in the user's browser, or print its link if there is none."""
    link = await sign_in_link(plane, page)
    if link and not print_only and not as_json and await asyncio.to_thread(_opened, link):
        return DONE
    return show(plane, link, as_json)


def _opened(link: str) -> bool:
    try:
        return webbrowser.get().open(link)
    except webbrowser.Error:
        return False
