"""Start of one desktop service as a child process, until its ready message."""

import asyncio
import contextlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deskhand.desktop.launch.mount_plan import HIDDEN

from .errors import DesktopNotStarted

START_SECONDS = 60.0

PASSED_ON = (
    *("PATH", "LANG", "LC_ALL", "TZ"),
    *("XDG_RUNTIME_DIR", "DESKHAND_RUN_DIR", "DESKHAND_USERS", "DESKHAND_NAMESPACES"),
)
"""The variables that a service inherits: provider keys are not among them."""


async def start_service(
    command: Sequence[str], log: Path, listening: int, hidden: str
) -> tuple[asyncio.subprocess.Process, dict[str, Any]]:
    """Start a service and return its process with its ready message.

    ``listening`` is the descriptor of its socket; ``hidden`` are directories that it must not see,
    separated as in PATH. Cancelling ends the process.

    Raises:
        DesktopNotStarted: With the last line of its log, or another reason.
    """
    try:
        # The child inherits the descriptor, so this process may close its own after the start.
        with log.open("wb") as errors:
            child = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                pass_fds=(listening,),
                # The current directory must not stay in use after the control plane has ended.
                cwd="/",
                env=_environment(hidden),
                # Ctrl-C in our terminal must not reach the keepers: the fleet ends them.
                start_new_session=True,
            )
    except OSError as error:
        raise DesktopNotStarted(str(error)) from error
    try:
        ready = await _ready_message(child, log)
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            child.terminate()
        await child.wait()
        raise
    return child, ready


def _environment(hidden: str) -> dict[str, str]:
    passed = {name: value for name, value in os.environ.items() if name in PASSED_ON}
    return {**passed, HIDDEN: hidden}


async def _ready_message(child: asyncio.subprocess.Process, log: Path) -> dict[str, Any]:
    if child.stdout is None:
        raise DesktopNotStarted("its output cannot be read")
    try:
        async with asyncio.timeout(START_SECONDS):
            line = await child.stdout.readline()
    except TimeoutError:
        raise DesktopNotStarted(f"it was not ready after {START_SECONDS:.0f} s") from None
    # An empty read is end of file: the service has exited, and its log has the reason.
    if not line:
        await child.wait()
        raise DesktopNotStarted(_last_line(log) or f"exit status {child.returncode}")
    try:
        found: dict[str, Any] = json.loads(line)
    except ValueError as error:
        raise DesktopNotStarted(f"it said {line[:80]!r}") from error
    return found


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""
