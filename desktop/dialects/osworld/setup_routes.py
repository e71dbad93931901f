"""Routes of OSWorld that prepare a task and report the state of the desktop."""

import asyncio
import json
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

from deskhand.desktop.errors import DesktopRefused

from .accessibility_xml import xml_of
from .bodies import Json, text_of, window_of
from .errors import BadOsworldRequest, OsworldFailure, OsworldRefusal
from .machine import DESKTOP, OsworldMachine
from .window_choice import chosen, is_terminal, of_class, opened

FORBIDDEN = 403
OPEN_SECONDS = 60.0
POLL_SECONDS = 0.1
DOWNLOAD_SECONDS = 290.0
PROGRAM_SECONDS = 30.0


@dataclass
class OsworldSession:
    """What the routes of one service remember."""

    lan: bool
    """Whether downloads may reach private addresses."""
    recording: str = ""
    """Id of the recording in progress."""
    wallpaper: str = ""


async def accessibility(machine: OsworldMachine, _: Json) -> Json:
    """The tree of widgets as XML."""
    tree = await machine.caller.request("GET", f"{DESKTOP}/accessibility")
    return {"AT": await asyncio.to_thread(xml_of, tree["applications"])}


async def terminal(machine: OsworldMachine, _: Json) -> Json:
    """The text of the terminal that has the focus, null if there is none."""
    try:
        windows = await machine.windows()
        shown = [one["pid"] for one in windows if one["focused"] and is_terminal(one)]
        text = None
        if shown:
            program = _program(machine, "terminal", str(shown[0]))
            text = await machine.printed(program, PROGRAM_SECONDS, "The terminal has no text.")
    except DesktopRefused as error:
        # A credential that may only view asks if the server runs.
        if error.status != FORBIDDEN:
            raise
        text = None
    return {"output": text or None, "status": "success"}


async def cursor_position(machine: OsworldMachine, _: Json) -> list[int]:
    """Where the pointer is."""
    return list(await machine.pointer())


async def screen_size(machine: OsworldMachine, _: Json) -> Json:
    """Width and height of the screen."""
    size: Json = (await machine.caller.request("GET", DESKTOP))["size"]
    return size


async def window_size(machine: OsworldMachine, form: Json) -> Json:
    """Width and height of the first window of a WM_CLASS."""
    window = of_class(await machine.windows(), text_of(form, "app_class_name"))
    if window is None:
        raise OsworldFailure("There is no such window.")
    return {name: window["native_geometry"][name] for name in ("width", "height")}


async def activate_window(machine: OsworldMachine, body: Json) -> str:
    """Focus a window; it is no error if there is none."""
    await _change(machine, body, "focus")
    return "Window activated successfully"


async def close_window(machine: OsworldMachine, body: Json) -> str:
    """Close a window; it is no error if there is none."""
    await _change(machine, body, "close")
    return "Window closed successfully."


async def open_file(
    machine: OsworldMachine, body: Json, now: Callable[[], float] = time.monotonic
) -> str:
    """Open a file or an address, and wait for its window."""
    target = text_of(body, "path")
    where = {"url": target} if "://" in target else {"path": await path_of(machine, target)}
    before = {window["id"] for window in await machine.windows()}
    with machine.caller.step(machine.tool, target):
        await machine.caller.request("POST", f"{DESKTOP}/open", json=where)
        deadline = now() + OPEN_SECONDS
        while not opened(before, await machine.windows(), target):
            if now() >= deadline:
                raise OsworldFailure(f"No window has opened for {target} in time.")
            await asyncio.sleep(POLL_SECONDS)
    return "File opened successfully"


async def download_file(machine: OsworldMachine, body: Json, session: OsworldSession) -> str:
    """Fetch an address with the agent's network, as the agent's user."""
    url, path = text_of(body, "url"), await path_of(machine, text_of(body, "path"))
    words = ("download", url, path, *(("lan",) if session.lan else ()))
    with machine.caller.step(machine.tool, f"{url} {path}"):
        await machine.printed(
            _program(machine, *words), DOWNLOAD_SECONDS, f"Failed to download {url}."
        )
    return "File downloaded successfully"


async def change_wallpaper(machine: OsworldMachine, body: Json, session: OsworldSession) -> str:
    """Show a picture behind all windows."""
    path = await path_of(machine, text_of(body, "path"))
    with machine.caller.step(machine.tool, path):
        await machine.caller.request("PUT", f"{DESKTOP}/wallpaper", params={"path": path})
    session.wallpaper = path
    return "Wallpaper changed successfully"


async def desktop_path(machine: OsworldMachine, _: Json) -> Json:
    """The user's directory for files on the desktop, which exists afterwards."""
    failed = "There is no directory for the desktop."
    printed = await machine.printed(_program(machine, "desktop"), PROGRAM_SECONDS, failed)
    return {"desktop_path": printed}


async def list_directory(machine: OsworldMachine, body: Json) -> Json:
    """The tree of files below a directory."""
    path = text_of(body, "path")
    try:
        printed = await machine.printed(_program(machine, "tree", path), PROGRAM_SECONDS, "")
    except OsworldFailure as error:
        raise BadOsworldRequest(str(error.fields["message"])) from error
    return {"directory_tree": json.loads(printed)}


async def start_recording(machine: OsworldMachine, session: OsworldSession) -> Json:
    """Begin to record; refused while a recording of this route is in progress."""
    if session.recording:
        raise BadOsworldRequest("Recording is already in progress.")
    started = session.recording = str(uuid4())
    try:
        body = {"recording_id": started, "label": "osworld"}
        await machine.caller.request("POST", f"{DESKTOP}/recording/start", json=body)
    except (DesktopRefused, asyncio.CancelledError):
        session.recording = ""
        raise
    return {"status": "success"}


async def end_recording(machine: OsworldMachine, session: OsworldSession) -> str:
    """End the recording and return the path of the route of its video."""
    recording, session.recording = session.recording, ""
    if not recording:
        raise BadOsworldRequest("No recording in progress to stop.")
    body = {"recording_id": recording}
    await machine.caller.request("POST", f"{DESKTOP}/recording/stop", json=body)
    return f"{DESKTOP}/recordings/{recording}/video"


async def path_of(machine: OsworldMachine, path: str) -> str:
    """Return the absolute path that the agent means: with its home and its variables."""
    if path.startswith("/") and "$" not in path:
        return path
    return await machine.printed(_program(machine, "path", path), PROGRAM_SECONDS, "")


def wallpaper(session: OsworldSession) -> str:
    """Return the path of the wallpaper; raises ``OsworldRefusal`` if none was chosen."""
    if not session.wallpaper:
        raise OsworldRefusal(404, {"error": "Wallpaper not found"})
    return session.wallpaper


def _program(machine: OsworldMachine, *words: str) -> str:
    program = str(machine.folder.path / "agent_program.py")
    return shlex.join(("python", "-I", program, *words))


async def _change(machine: OsworldMachine, body: Json, change: str) -> None:
    wanted = window_of(body)
    window = chosen(await machine.windows(), wanted)
    with machine.caller.step(machine.tool, wanted.name):
        if window is not None:
            path = f"{DESKTOP}/windows/{window['id']}/{change}"
            await machine.caller.request("POST", path, json={})
