"""`deskhand scroll`, `drag`, `move`, `zoom`, `launch`, `windows`, `tree`, `clipboard` and `wait`.

Each function returns the exit status of its command.
"""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from deskhand.desktop.errors import ConditionNotMet
from deskhand.desktop.remote import Desktop
from deskhand.desktop.results import Widget, Window
from deskhand.tools.commands.command_body import run_command, run_status
from deskhand.tools.commands.desktop_target import DesktopSelector, open_desktop
from deskhand.tools.commands.exit_status import DONE, FAILED, USAGE
from deskhand.tools.commands.output.screen import print_table
from deskhand.tools.commands.output.table import Column, harmless, printable
from deskhand.tools.commands.terminal import print_error, print_json, print_line, write_bytes

from .actions import print_result, write_picture

Json = dict[str, Any]
WINDOW_COLUMNS = (
    Column("ID"),
    Column("STATE", optional=2),
    Column("PLACE", optional=3),
    Column("CLASS", optional=1),
    Column("TITLE", flexible=True),
)


def scroll(
    where: DesktopSelector, x: int, y: int, direction: Any, notches: int, as_json: bool
) -> int:
    """Turn the wheel at a point."""

    async def work() -> None:
        async with open_desktop(where) as target:
            print_result(await target.desktop.mouse.scroll(x, y, direction, notches), as_json)

    return run_command(work)


def drag(
    where: DesktopSelector, path: list[int], seconds: float, button: Any, as_json: bool
) -> int:
    """Move along points with a button pressed; ``path`` has x and y in turn."""
    if len(path) < 4 or len(path) % 2:
        print_error("give two points or more, as in: deskhand drag 100 200 300 200")
        return USAGE
    points = list(zip(path[::2], path[1::2], strict=True))

    async def work() -> None:
        async with open_desktop(where) as target:
            done = await target.desktop.mouse.drag(*points, seconds=seconds, button=button)
            print_result(done, as_json)

    return run_command(work)


def move(where: DesktopSelector, x: int, y: int, seconds: float, as_json: bool) -> int:
    """Move the pointer."""

    async def work() -> None:
        async with open_desktop(where) as target:
            print_result(await target.desktop.mouse.move(x, y, seconds=seconds), as_json)

    return run_command(work)


def zoom(
    where: DesktopSelector, region: tuple[int, int, int, int], file: Path, as_json: bool
) -> int:
    """Write a picture of a region at native resolution to a file."""
    return write_picture(where, file, as_json, region)


def launch(where: DesktopSelector, target: str, arguments: list[str], as_json: bool) -> int:
    """Open an address or a file, or launch an application by its name."""

    async def work() -> None:
        async with open_desktop(where) as found:
            applications = found.desktop.applications
            if "://" in target:
                started = await applications.open_url(target)
            elif target.startswith("/"):
                started = await applications.open_path(target)
            else:
                started = await applications.launch(target, *arguments)
        print_json(asdict(started)) if as_json else print_line(printable(started.command))

    return run_command(work)


def windows(where: DesktopSelector, action: Any, window: int | None, as_json: bool) -> int:
    """Print the windows, or change one of them."""
    if action != "list" and window is None:
        print_error(f"which window? deskhand windows lists their ids: deskhand windows {action} ID")
        return USAGE

    async def work() -> int:
        async with open_desktop(where) as target:
            if window is not None and action != "list":
                change = getattr(target.desktop.windows, action)
                changed: Window | None = await change(window)
                print_json({"window": _window_json(changed)}) if as_json else None
                return DONE
            found = await target.desktop.windows.list()
        if as_json:
            print_json({"windows": [_window_json(one) for one in found]})
        else:
            print_table(WINDOW_COLUMNS, [_row(one) for one in found], "there are no windows")
        return DONE

    return run_status(work)


def tree(where: DesktopSelector, as_json: bool) -> int:
    """Print what the applications show: a widget in a line, its children indented."""

    async def work() -> None:
        async with open_desktop(where) as target:
            widgets = await target.desktop.accessibility()
        if as_json:
            print_json({"applications": [_widget_json(one) for one in widgets]})
            return
        for one in widgets:
            _print_widget(one, 0)

    return run_command(work)


def clipboard(where: DesktopSelector, text: str | None, as_json: bool) -> int:
    """Print the text of the clipboard, or copy a text; ``-`` reads it from the input."""
    given = sys.stdin.read() if text == "-" else text

    async def work() -> int:
        async with open_desktop(where) as target:
            if given is not None:
                await target.desktop.clipboard.set_text(given)
                print_json({"text": given}) if as_json else None
                return DONE
            found = await target.desktop.clipboard.text()
        if as_json:
            print_json({"text": found})
        elif found is None:
            print_error("the clipboard has no text")
            return FAILED
        else:
            # As it is, for a pipe: a line feed at the end would be another text.
            write_bytes(found.encode() if not sys.stdout.isatty() else _line(found))
        return DONE

    return run_status(work)


def wait(where: DesktopSelector, wanted: Json, timeout: float, as_json: bool) -> int:
    """Wait until something is on the screen; fail at the timeout."""

    async def work() -> int:
        async with open_desktop(where) as target:
            try:
                await _awaited(target.desktop, wanted, timeout)
            except ConditionNotMet as error:
                print_error(" ".join(str(error).split()))
                return FAILED
        print_json({"found": wanted}) if as_json else None
        return DONE

    return run_status(work)


async def _awaited(desktop: Desktop, wanted: Json, timeout: float) -> None:
    await desktop.wait_until(**wanted, timeout=timeout)


def _line(text: str) -> bytes:
    return f"{harmless(text)}\n".encode()


def _row(window: Window) -> tuple[str, ...]:
    flags = {"focused": window.focused, "minimized": window.minimized, "dialog": window.dialog}
    state = ", ".join(name for name, on in flags.items() if on) or "-"
    place = " ".join(map(str, window.region))
    return (str(window.id), state, place, window.class_name, window.title)


def _window_json(window: Window | None) -> Json | None:
    return None if window is None else asdict(window)


def _widget_json(widget: Widget) -> Json:
    return asdict(widget)


def _print_widget(widget: Widget, depth: int) -> None:
    place = f"  [{' '.join(map(str, widget.rectangle))}]" if widget.rectangle else ""
    name = f' "{printable(widget.name)}"' if widget.name else ""
    print_line(f"{'  ' * depth}{widget.role}{name}  {widget.ref}{place}".rstrip())
    for child in widget.children:
        _print_widget(child, depth + 1)
