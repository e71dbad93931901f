"""`deskhand screenshot`, `click`, `type` and `key`: one action from a shell.

Each function returns the exit status of its command.
"""

import sys
from pathlib import Path
from typing import Any

from deskhand.desktop.results import Done
from deskhand.tools.commands.command_body import run_command
from deskhand.tools.commands.desktop_target import DesktopSelector, open_desktop
from deskhand.tools.commands.exit_status import DONE, USAGE
from deskhand.tools.commands.terminal import print_error, print_json, print_line, write_bytes

_FORMATS = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".webp": "webp"}


def screenshot(where: DesktopSelector, file: Path, as_json: bool) -> int:
    """Write a screenshot to a file, ``-`` for the standard output."""
    return write_picture(where, file, as_json)


def write_picture(
    where: DesktopSelector,
    file: Path,
    as_json: bool,
    region: tuple[int, int, int, int] | None = None,
) -> int:
    """Write a picture of the screen, or of a region at native resolution, to a file."""
    kind: Any = "png" if str(file) == "-" else _FORMATS.get(file.suffix.lower())
    if kind is None:
        print_error(f"{file}: the file's name must end in {', '.join(_FORMATS)}")
        return USAGE

    async def work() -> None:
        async with open_desktop(where) as target:
            to = None if str(file) == "-" else file
            taken = await target.desktop.screenshot(format=kind, region=region, path=to)
        if to is None:
            write_bytes(taken.data)
        elif as_json:
            width, height = taken.size
            print_json({"file": str(file), "bytes": len(taken.data), "width": width,
                      "height": height, "frame_id": taken.frame_id})  # fmt: skip
        else:
            print_line(str(file))

    return run_command(work)


def click(where: DesktopSelector, x: int, y: int, button: Any, count: int, as_json: bool) -> int:
    """Click at a point of the screenshot."""

    async def work() -> None:
        async with open_desktop(where) as target:
            print_result(
                await target.desktop.mouse.click(x, y, button=button, count=count), as_json
            )

    return run_command(work)


def type_text(where: DesktopSelector, text: str, as_json: bool) -> int:
    """Type a text, ``-`` for the standard input."""
    typed = sys.stdin.read() if text == "-" else text

    async def work() -> None:
        async with open_desktop(where) as target:
            print_result(await target.desktop.keyboard.type(typed), as_json)

    # Without a text there is nothing to do, and a desktop must not be launched for it.
    return run_command(work) if typed else DONE


def key(where: DesktopSelector, chords: list[str], as_json: bool) -> int:
    """Press keys and chords in order."""

    async def work() -> None:
        async with open_desktop(where) as target:
            print_result(await target.desktop.keyboard.press(" ".join(chords)), as_json)

    return run_command(work)


def print_result(done: Done, as_json: bool) -> None:
    """Print the result of an action, or a warning about its point."""
    if as_json:
        point = list(done.point) if done.point else None
        print_json({"output": done.output, "point": point, "clamped": done.clamped,
                  "frame_id": done.frame_id})  # fmt: skip
    elif done.clamped and done.point:
        print_error(f"that is off the screen; clicked at {done.point.x} {done.point.y}")
