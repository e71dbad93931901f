"""`deskhand record` and `deskhand recordings`: recordings from a shell.

Each function returns the exit status of its command.
"""

import asyncio
import signal
from pathlib import Path
from typing import Any

from deskhand.desktop.errors import DesktopRefused
from deskhand.desktop.results import Recording

from .command_body import run_command
from .desktop_target import DesktopSelector, TargetDesktop, open_desktop
from .terminal import print_error, print_json, print_line

Json = dict[str, Any]

_FILES = "/api/v0/files"
_NOT_FOUND = 404
_PAGE = "100"


def record(
    where: DesktopSelector, file: Path | None, seconds: float | None, label: str, as_json: bool
) -> int:
    """Record until Ctrl-C or for ``seconds``, and download the video."""

    async def work() -> None:
        async with open_desktop(where) as target:
            recording = target.desktop.recording
            name = await recording.start(label=label)
            if not as_json:
                print_line(
                    f"Recording {name}; " + (f"{seconds:g} s" if seconds else "Ctrl-C ends it")
                )
            await _wait_for_signal(seconds)
            stored = await recording.stop(name)
            to = file or Path(f"{name}.mp4")
            await recording.download(name, to)
            if as_json:
                print_json(_row(stored) | {"file": str(to)})
            else:
                print_line(f"{to}: {stored.video_s:.1f} s of video, {stored.size} bytes")

    return run_command(work)


def listing(where: DesktopSelector, as_json: bool) -> int:
    """Print the recordings of the desktop and of the control plane's runs."""

    async def work() -> None:
        async with open_desktop(where) as target:
            rows = await _rows(target)
        if as_json:
            print_json({"recordings": rows})
            return
        for row in rows:
            length = float(row["video_s"] or 0.0)
            print_line(
                f"{row['id']}  {row['kind']:7}  {length:7.1f} s  {row['bytes']:>10}  {row['label']}"
            )
        if not rows:
            print_error("there are no recordings")

    return run_command(work)


def get(where: DesktopSelector, recording_id: str, file: Path | None, as_json: bool) -> int:
    """Download the video of one recording."""
    to = file or Path(f"{recording_id}.mp4")

    async def work() -> None:
        async with open_desktop(where) as target:
            # Recordings of runs are files of the control plane, and an id does not reveal its kind.
            if target.plane is None or await _is_of_desktop(target, recording_id):
                size = await target.desktop.recording.download(recording_id, to)
            else:
                size = await target.plane.download(f"{_FILES}/{recording_id}", to)
        print_json({"file": str(to), "bytes": size}) if as_json else print_line(str(to))

    return run_command(work)


def remove(where: DesktopSelector, recording_id: str, as_json: bool) -> int:
    """Delete one recording."""

    async def work() -> None:
        async with open_desktop(where) as target:
            if target.plane is None or await _is_of_desktop(target, recording_id):
                await target.desktop.recording.delete(recording_id)
            else:
                await target.plane.request("DELETE", f"{_FILES}/{recording_id}")
        if as_json:
            print_json({"removed": recording_id})

    return run_command(work)


async def _rows(target: TargetDesktop) -> list[Json]:
    rows = [_row(one) for one in await target.desktop.recording.list()]
    if target.plane is not None:
        params = {"limit": _PAGE}
        found = await target.plane.request("GET", "/api/v0/recordings", params=params)
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


async def _is_of_desktop(target: TargetDesktop, recording_id: str) -> bool:
    try:
        await target.desktop.recording.get(recording_id)
    except DesktopRefused as error:
        # The desktop service may refuse the id of a stored file as malformed (400).
        if error.status in (400, _NOT_FOUND):
            return False
        raise
    return True


async def _wait_for_signal(seconds: float | None) -> None:
    """Wait for SIGINT or SIGTERM, at most ``seconds``."""
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    caught = (signal.SIGINT, signal.SIGTERM)
    # The handlers replace KeyboardInterrupt: the recording must be stopped and downloaded.
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
