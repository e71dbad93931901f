"""`deskhand record` and `deskhand recordings`: films from a shell."""

import asyncio
import signal
from pathlib import Path
from typing import Any

from deskhand.desktop.errors import DesktopRefused
from deskhand.desktop.results import Recording

from .desktop_target import TargetDesktop, Where, carried_out, opened
from .terminal import complain, say, say_json

Json = dict[str, Any]

_FILES = "/api/v0/files"
_NOT_FOUND = 404
_PAGE = "100"


def record(
    where: Where, file: Path | None, seconds: float | None, label: str, as_json: bool
) -> int:
    """Record until Ctrl-C or so many seconds, and fetch the film; return the exit status."""

    async def work() -> None:
        async with opened(where) as desk:
            recording = desk.desktop.recording
            name = await recording.start(label=label)
            if not as_json:
                say(f"Recording {name}; " + (f"{seconds:g} s" if seconds else "Ctrl-C ends it"))
            await _interrupted(seconds)
            stored = await recording.stop(name)
            to = file or Path(f"{name}.mp4")
            await recording.download(name, to)
            if as_json:
                say_json(_row(stored) | {"file": str(to)})
            else:
                say(f"{to}: {stored.video_s:.1f} s of video, {stored.size} bytes")

    return carried_out(work)


def listing(where: Where, as_json: bool) -> int:
    """Print the recordings of the desktop and of the control plane's runs."""

    async def work() -> None:
        async with opened(where) as desk:
            rows = await _rows(desk)
        if as_json:
            say_json({"recordings": rows})
            return
        for row in rows:
            length = float(row["video_s"] or 0.0)
            say(
                f"{row['id']}  {row['kind']:7}  {length:7.1f} s  {row['bytes']:>10}  {row['label']}"
            )
        if not rows:
            complain("there are no recordings")

    return carried_out(work)


def get(where: Where, recording_id: str, file: Path | None, as_json: bool) -> int:
    """Fetch one recording's video."""
    to = file or Path(f"{recording_id}.mp4")

    async def work() -> None:
        async with opened(where) as desk:
            if desk.plane is None or await _is_of_desktop(desk, recording_id):
                size = await desk.desktop.recording.download(recording_id, to)
            else:
                size = await desk.plane.download(f"{_FILES}/{recording_id}", to)
        say_json({"file": str(to), "bytes": size}) if as_json else say(str(to))

    return carried_out(work)


def remove(where: Where, recording_id: str, as_json: bool) -> int:
    """Remove one recording."""

    async def work() -> None:
        async with opened(where) as desk:
            if desk.plane is None or await _is_of_desktop(desk, recording_id):
                await desk.desktop.recording.delete(recording_id)
            else:
                await desk.plane.request("DELETE", f"{_FILES}/{recording_id}")
        if as_json:
            say_json({"removed": recording_id})

    return carried_out(work)


async def _rows(desk: TargetDesktop) -> list[Json]:
    rows = [_row(one) for one in await desk.desktop.recording.list()]
    if desk.plane is not None:
        params = {"limit": _PAGE}
        found = await desk.plane.request("GET", "/api/v0/recordings", params=params)
        rows += [_run_row(one) for one in found["recordings"]]
    return rows


def _row(one: Recording) -> Json:
    return {
        "id": one.id,
        "kind": "desktop",
        "label": one.label,
        "status": one.status,
        "video_s": one.video_s,
        "duration_s": one.duration_s,
        "bytes": one.size,
    }


def _run_row(one: Json) -> Json:
    return {
        "id": one["recording_file_id"],
        "kind": "run",
        "label": one["title"],
        "status": one["recording_status"],
        "video_s": one["video_s"],
        "duration_s": one["duration_s"],
        "bytes": one["bytes"],
    }


async def _is_of_desktop(desk: TargetDesktop, recording_id: str) -> bool:
    try:
        await desk.desktop.recording.get(recording_id)
    except DesktopRefused as error:
        if error.status in (400, _NOT_FOUND):
            return False
        raise
    return True


async def _interrupted(seconds: float | None) -> None:
    """Wait for Ctrl-C or SIGTERM, at most so long."""
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    caught = (signal.SIGINT, signal.SIGTERM)
    for number in caught:
        loop.add_signal_handler(number, asked.set)
    try:
        async with asyncio.timeout(seconds):
            await asked.wait()
    except TimeoutError:
        pass
    finally:
        for number in caught:
            loop.remove_signal_handler(number)
