"""Set-up of a task: files, commands, and what is shown before the agent starts.

Every failure is an error of the task, never a failure of the model.
"""

import time
from pathlib import Path
from typing import Any

from deskhand.desktop.errors import DesktopRefused
from deskhand.tools.evaluation.checking.checking import file_content
from deskhand.tools.evaluation.checking.machine import TaskMachine
from deskhand.tools.evaluation.errors import RunError
from deskhand.tools.evaluation.places import filled
from deskhand.tools.evaluation.task import READY_SECONDS, Setup, Task

Json = dict[str, Any]

QUIET_MS = 300
LONGEST_OUTPUT = 500
ADDRESSES = ("http://", "https://", "file:", "about:")


async def set_up(task: Task, machine: TaskMachine, places: dict[str, str]) -> None:
    """Prepare the machine as the task describes.

    Raises:
        RunError: If a part fails; the text names the part.
    """
    setup = task.setup
    for file in setup.files:
        content = file_content(file.text, file.source, task.folder)
        if file.text is not None:
            content = filled(file.text, places).encode()
        try:
            await machine.write(file.path, content)
        except DesktopRefused as error:
            raise RunError("setup", f"the file {file.path} was not written: {error}") from error
    for command in setup.commands:
        ended = await machine.run(filled(command.run, places), command.seconds)
        if ended.status != 0:
            how = f"ended with {ended.status}"
            if ended.status is None:
                how = f"has not ended in {command.seconds:g} s"
            output = ended.output.strip()[-LONGEST_OUTPUT:]
            raise RunError("setup", f"the command {command.run!r} {how}: {output}")
    await _show(setup, machine, places)


async def _show(setup: Setup, machine: TaskMachine, places: dict[str, str]) -> None:
    """Open and launch what the agent finds on its screen, each after the one before is shown."""
    for name in setup.open:
        where = filled(name, places)
        if where.startswith(ADDRESSES):
            await _started(machine, "/desktop/open", {"url": where}, name)
            await _shown(machine, {"url": where.rstrip("/")}, f"the address {where}")
        else:
            await _started(machine, "/desktop/open", {"path": machine.path(where)}, name)
            await _shown(machine, {"window": Path(where).stem}, f"a window of {name}", False)
    for name in setup.launch:
        line = filled(name, places)
        kind = "command" if " " in line.strip() else "name"
        before = len(await _windows(machine))
        await _started(machine, "/desktop/launch", {kind: line}, name)
        await _more_windows(machine, before, name)
    ready = setup.ready
    if ready is not None:
        given = {"window": ready.window, "text": ready.text, "url": ready.url}
        wanted = {key: filled(value, places) for key, value in given.items() if value is not None}
        await _shown(machine, wanted, "what `ready` names", True, ready.seconds)


async def _started(machine: TaskMachine, path: str, body: Json, name: str) -> None:
    try:
        await machine.request("POST", path, json=body, seconds=READY_SECONDS)
    except DesktopRefused as error:
        raise RunError("setup", f"{name!r} could not be opened: {error}") from error


async def _shown(
    machine: TaskMachine,
    wanted: Json,
    what: str,
    needed: bool = True,
    seconds: float = READY_SECONDS,
) -> None:
    """Wait until the screen shows something and rests."""
    found = await machine.wait_for({**wanted, "quiet_ms": QUIET_MS}, seconds if needed else 5.0)
    # A page that paints all the time, such as a clock, is never quiet.
    if needed and set(found["unmet"]) - {"quiet_ms"}:
        seen = "; ".join(f"{key}: {value}" for key, value in found["seen"].items())
        raise RunError("setup", f"{what} was not shown in {seconds:g} s; there was {seen}")


async def _windows(machine: TaskMachine) -> list[Json]:
    found = await machine.request("GET", "/desktop/windows", seconds=READY_SECONDS)
    return list(found["windows"])


async def _more_windows(machine: TaskMachine, before: int, name: str) -> None:
    began = time.monotonic()
    while len(await _windows(machine)) <= before:
        if time.monotonic() - began > READY_SECONDS:
            raise RunError("setup", f"{name!r} opened no window in {READY_SECONDS:g} s")
        # The wait ends when the screen rests, or at once; titles may follow a paint.
        await machine.wait_for({"quiet_ms": QUIET_MS}, 1.0)
    await machine.wait_for({"quiet_ms": QUIET_MS}, 5.0)
