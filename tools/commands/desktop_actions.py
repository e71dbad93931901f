"""`deskhand screenshot`, `click`, `type` and `key`: one action from a shell."""

import sys
from pathlib import Path
from typing import Any

from deskhand.desktop.results import Done

from .desktop_target import DONE, Where, carried_out, opened
from .terminal import complain, say, say_json

USAGE = 2
_FORMATS = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".webp": "webp"}


def screenshot(where: Where, file: Path, as_json: bool) -> int:
    """Write a picture to a file, ``-`` for the standard output; return the exit status."""
    kind: Any = "png" if str(file) == "-" else _FORMATS.get(file.suffix.lower())
    if kind is None:
        complain(f"{file}: the file's name must end in {', '.join(_FORMATS)}")
        return USAGE

    async def work() -> None:
        async with opened(where) as desk:
            to = None if str(file) == "-" else file
            taken = await desk.desktop.screenshot(format=kind, path=to)
        if to is None:
            sys.stdout.buffer.write(taken.data)
        elif as_json:
            width, height = taken.size
            say_json({"file": str(file), "bytes": len(taken.data), "width": width,
                      "height": height, "frame_id": taken.frame_id})  # fmt: skip
        else:
            say(str(file))

    return carried_out(work)


def click(where: Where, x: int, y: int, button: Any, count: int, as_json: bool) -> int:
    """Click; return the exit status."""
    if count != 1 and button != "left":
        complain("only the left button clicks more than once")
        return USAGE

    async def work() -> None:
        async with opened(where) as desk:
            _tell(await desk.desktop.mouse.click(x, y, button=button, count=count), as_json)

    return carried_out(work)


def type_text(where: Where, text: str, as_json: bool) -> int:
    """Type a text, ``-`` for the standard input; return the exit status."""
    typed = sys.stdin.read() if text == "-" else text

    async def work() -> None:
        async with opened(where) as desk:
            _tell(await desk.desktop.keyboard.type(typed), as_json)

    return carried_out(work) if typed else DONE


def key(where: Where, chords: list[str], as_json: bool) -> int:
    """Strike keys and chords in order; return the exit status."""

    async def work() -> None:
        async with opened(where) as desk:
            _tell(await desk.desktop.keyboard.press(" ".join(chords)), as_json)

    return carried_out(work)


def _tell(done: Done, as_json: bool) -> None:
    if as_json:
        point = list(done.point) if done.point else None
        say_json({"output": done.output, "point": point, "clamped": done.clamped,
                  "frame_id": done.frame_id})  # fmt: skip
    elif done.clamped and done.point:
        complain(f"that is off the screen; clicked at {done.point.x} {done.point.y}")
