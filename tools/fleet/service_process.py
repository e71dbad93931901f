"""One desktop service: its start over the launch port, until its ready message, and its end."""

import asyncio
import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.desktop.launch.keeper import LONGEST_SECONDS
from deskhand.desktop.launch_port.launch_port import (
    DesktopLaunch,
    LaunchDescriptors,
    LaunchedDesktop,
    LaunchSpec,
)

from .errors import DesktopNotStarted, LauncherRefused
from .launcher_client import LauncherClient
from .registry import RegisteredDesktop, exit_of, is_alive, readable

START_SECONDS = 60.0
END_SECONDS = LONGEST_SECONDS + 1.0
"""Timeout for the end of a keeper, which kills its service earlier than this."""


@dataclass(frozen=True)
class StartedService:
    """A desktop service that is ready."""

    pid: int
    """Of its keeper."""
    ready: dict[str, Any]
    output: asyncio.ReadTransport
    """Its standard output, to be closed when the desktop has ended."""


async def start_service(
    launch: DesktopLaunch, spec: LaunchSpec, log: Path, listening: int, token: str
) -> StartedService:
    """Start a service and return it when it is ready.

    ``listening`` is the descriptor of its socket. After an error or a cancellation the process may
    be running.

    Raises:
        DesktopNotStarted: With the last line of its log, or another reason.
    """
    read, ready = os.pipe()
    reader = asyncio.StreamReader()
    output, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read, "rb", buffering=0)
    )
    try:
        try:
            launched = await _launched(launch, spec, log, (listening, ready), token)
        finally:
            os.close(ready)
        try:
            message = await _ready_message(reader, log, launched)
        finally:
            os.close(launched.exit)
    except BaseException:
        output.close()
        raise
    return StartedService(launched.pid, message, output)


async def end_service(launcher: LauncherClient, desktop_id: str, pid: int) -> None:
    """End the keeper ``pid`` of a desktop, by SIGKILL if it has not ended in time."""
    # The process may exit by itself at any moment.
    with contextlib.suppress(ProcessLookupError):
        await asyncio.to_thread(launcher.stop, desktop_id)
        try:
            async with asyncio.timeout(END_SECONDS):
                await exit_of(pid)
        except TimeoutError:
            await asyncio.to_thread(launcher.kill, desktop_id)


def client_of(entry: RegisteredDesktop) -> DesktopClient:
    """Return a client of a desktop.

    Raises:
        FileNotFoundError: If its token was removed.
    """
    return DesktopClient(entry.address, Path(entry.token_file).read_text().strip())


async def responds(entry: RegisteredDesktop) -> bool:
    """Return whether a desktop runs and answers this version."""
    if not is_alive(entry):
        return False
    try:
        async with client_of(entry) as client:
            await client.status()
    except (OSError, DesktopRefused, DesktopUnavailable):
        return False
    return True


async def _launched(
    launch: DesktopLaunch, spec: LaunchSpec, log: Path, passed: tuple[int, int], token: str
) -> LaunchedDesktop:
    given, written = os.pipe()
    with os.fdopen(given, "rb"):
        # The token is far shorter than what a pipe holds without a reader (pipe(7)).
        with os.fdopen(written, "w") as file:
            file.write(token)
        try:
            with log.open("wb") as errors:
                descriptors = LaunchDescriptors(passed[0], given, passed[1], errors.fileno())
                launching = asyncio.ensure_future(
                    asyncio.to_thread(launch.launch, spec, descriptors)
                )
                try:
                    return await asyncio.shield(launching)
                except asyncio.CancelledError:
                    # The descriptors must stay open until the thread has ended.
                    await asyncio.wait({launching})
                    raise
        except (OSError, LauncherRefused) as error:
            raise DesktopNotStarted(str(error)) from error


async def _ready_message(
    reader: asyncio.StreamReader, log: Path, launched: LaunchedDesktop
) -> dict[str, Any]:
    try:
        async with asyncio.timeout(START_SECONDS):
            line = await reader.readline()
    except TimeoutError:
        raise DesktopNotStarted(f"it was not ready after {START_SECONDS:.0f} s") from None
    # An empty read is end of file: the service has exited, and its log has the reason.
    if not line:
        await readable(launched.exit)
        raise DesktopNotStarted(_last_line(log) or "it ended, and its log has no reason")
    try:
        found: dict[str, Any] = json.loads(line)
    except ValueError as error:
        raise DesktopNotStarted(f"it said {line[:80]!r}") from error
    return found


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""
