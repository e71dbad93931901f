"""Desktop services on this machine: start them, find them again, end them."""

import asyncio
import contextlib
import json
import os
import secrets
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from deskhand.desktop.client.command import service_command
from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.desktop.keeper import LONGEST_SECONDS

from .errors import DesktopNotStarted, UnknownDesktop
from .registry import Entries, Entry, boot_id, is_alive, start_time

LINGER_SECONDS = 15 * 60
"""How long a service waits for a control plane before it ends by itself (product.md)."""

HEARTBEAT_SECONDS = 60.0
START_SECONDS = 60.0
END_SECONDS = LONGEST_SECONDS + 1.0
"""How long a keeper that is not our child has to end; it kills its service before."""

PASSED_ON = (
    *("PATH", "LANG", "LC_ALL", "TZ"),
    *("XDG_RUNTIME_DIR", "DESKHAND_RUN_DIR", "DESKHAND_USERS"),
)
"""All that a service sees of our environment: provider keys never get there."""


@dataclass(frozen=True)
class DesktopInfo:
    """A desktop as people and programs see it."""

    id: str
    name: str
    status: Literal["ready", "lost"]
    chat_id: str | None
    created_at: float
    live_url: str
    level: str
    pid: int
    display: str
    size: tuple[int, int]


class Fleet:
    """The desktops of one control plane. A context manager; closing ends them, or leaves them.

    ``live_url`` turns a desktop's id into the address of its live view.
    """

    def __init__(
        self, entries: Entries, root: Path, logs: Path, live_url: Callable[[str], str]
    ) -> None:
        self._entries = entries
        self._root = root
        self._logs = logs
        self._live_url = live_url
        self._known: dict[str, Entry] = {}
        self._clients: dict[str, DesktopClient] = {}
        self._children: dict[str, asyncio.subprocess.Process] = {}
        self._default: str | None = None
        self._starting_default = asyncio.Lock()
        self._heart: asyncio.Task[None] | None = None

    async def open(self) -> tuple[str, ...]:
        """Adopt every desktop that an earlier control plane left; return their ids."""
        self._entries.prepare()
        self._logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        for entry in list(self._entries.all()):
            if is_alive(entry) and await self._answers(entry):
                self._known[entry.id] = entry
            else:
                self._forget(entry)
        self._default = next((e.id for e in self._known.values() if e.chat_id is None), None)
        self._heart = asyncio.create_task(self._beat(), name="fleet heartbeat")
        return tuple(self._known)

    async def start(self, name: str | None = None, chat_id: str | None = None) -> DesktopInfo:
        """Start a desktop and return it once it is ready.

        Raises:
            DesktopNotStarted: With the reason that the service gave.
        """
        desktop_id = secrets.token_hex(4)
        folder = self._root / desktop_id
        token = secrets.token_urlsafe(32)
        token_file = self._entries.write_token(desktop_id, token)
        try:
            child, ready = await self._launch(desktop_id, folder, token_file)
        except BaseException:
            # Who gives the start up leaves no token behind either.
            self._entries.remove(desktop_id)
            raise
        entry = Entry(
            id=desktop_id,
            name=name or f"desktop {desktop_id}",
            chat_id=chat_id,
            pid=child.pid,
            start_time=start_time(child.pid) or 0,
            boot_id=boot_id(),
            address=ready["url"],
            token_file=str(token_file),
            folder=str(folder),
            created_at=time.time(),
            display=ready.get("display", ""),
            level=ready.get("level", ""),
            width=ready["size"][0],
            height=ready["size"][1],
        )
        self._entries.save(entry)
        self._known[desktop_id] = entry
        self._children[desktop_id] = child
        return self._info(entry)

    async def _launch(
        self, desktop_id: str, folder: Path, token_file: Path
    ) -> tuple[asyncio.subprocess.Process, dict[str, Any]]:
        log = self._logs / f"desktop-{desktop_id}.log"
        command = service_command(
            *("--folder", str(folder), "--listen", f"unix:{folder}/api.sock"),
            *("--token-file", str(token_file), "--linger", str(LINGER_SECONDS), "--json"),
        )
        try:
            with log.open("wb") as errors:
                child = await asyncio.create_subprocess_exec(
                    *command,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=errors,
                    cwd="/",
                    env={k: v for k, v in os.environ.items() if k in PASSED_ON},
                    start_new_session=True,
                )
        except OSError as error:
            raise DesktopNotStarted(str(error)) from error
        try:
            ready = await self._ready_line(child, log)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                child.terminate()
            await child.wait()
            raise
        return child, ready

    async def _ready_line(self, child: asyncio.subprocess.Process, log: Path) -> dict[str, Any]:
        if child.stdout is None:
            raise DesktopNotStarted("its output cannot be read")
        try:
            async with asyncio.timeout(START_SECONDS):
                line = await child.stdout.readline()
        except TimeoutError:
            raise DesktopNotStarted(f"it was not ready after {START_SECONDS:.0f} s") from None
        if not line:
            await child.wait()
            raise DesktopNotStarted(_last_line(log) or f"exit status {child.returncode}")
        try:
            found: dict[str, Any] = json.loads(line)
        except ValueError as error:
            raise DesktopNotStarted(f"it said {line[:80]!r}") from error
        return found

    async def default(self) -> str:
        """Return the desktop of chats that have none, started at its first use."""
        async with self._starting_default:
            if self._default is None or not self.known(self._default):
                self._default = (await self.start("default")).id
            return self._default

    def client(self, desktop_id: str) -> DesktopClient:
        """Return the way to call a desktop.

        Raises:
            UnknownDesktop: If there is none of this id.
        """
        if desktop_id not in self._known:
            raise UnknownDesktop(desktop_id)
        if desktop_id not in self._clients:
            self._clients[desktop_id] = _client_of(self._known[desktop_id])
        return self._clients[desktop_id]

    def known(self, desktop_id: str) -> bool:
        """Return whether a desktop of this id runs."""
        return desktop_id in self._known and is_alive(self._known[desktop_id])

    async def list(self) -> tuple[DesktopInfo, ...]:
        """Return all desktops, newest first; those that died are named once more as lost."""
        found = tuple(
            self._info(e) for e in sorted(self._known.values(), key=lambda e: -e.created_at)
        )
        for info in found:
            entry = self._known.get(info.id)
            # Whoever lists them at the same time may have dropped it first.
            if info.status == "lost" and entry is not None:
                await self._drop(entry)
        return found

    def _info(self, entry: Entry) -> DesktopInfo:
        return DesktopInfo(
            id=entry.id,
            name=entry.name,
            status="ready" if is_alive(entry) else "lost",
            chat_id=entry.chat_id,
            created_at=entry.created_at,
            live_url=self._live_url(entry.id),
            level=entry.level,
            pid=entry.pid,
            display=entry.display,
            size=(entry.width, entry.height),
        )

    async def stop(self, desktop_id: str) -> None:
        """End a desktop, its recordings finished first.

        Raises:
            UnknownDesktop: If there is none of this id.
        """
        if desktop_id not in self._known:
            raise UnknownDesktop(desktop_id)
        entry = self._known[desktop_id]
        child = self._children.get(desktop_id)
        # It may end by itself at any moment.
        with contextlib.suppress(ProcessLookupError):
            if child is not None:
                child.terminate()
                await child.wait()
            elif is_alive(entry):
                await _end_adopted(entry.pid)
        await self._drop(entry)

    async def _drop(self, entry: Entry) -> None:
        self._known.pop(entry.id, None)
        child = self._children.pop(entry.id, None)
        if child is not None:
            await child.wait()
        client = self._clients.pop(entry.id, None)
        if client is not None:
            await client.close()
        self._forget(entry)

    def _forget(self, entry: Entry) -> None:
        self._entries.remove(entry.id)
        with contextlib.suppress(OSError):
            Path(entry.folder).rmdir()

    async def _answers(self, entry: Entry) -> bool:
        try:
            async with _client_of(entry) as client:
                await client.status()
        except (OSError, DesktopRefused, DesktopUnavailable):
            return False
        return True

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            for desktop_id in list(self._known):
                with contextlib.suppress(DesktopRefused, DesktopUnavailable, UnknownDesktop):
                    await self.client(desktop_id).status()

    async def close(self, *, keep: bool = False) -> None:
        """End every desktop, or leave them to the next control plane."""
        if self._heart is not None:
            self._heart.cancel()
            await asyncio.gather(self._heart, return_exceptions=True)
        if not keep:
            await asyncio.gather(*(self.stop(i) for i in list(self._known)))
        for client in self._clients.values():
            await client.close()
        self._clients.clear()


async def _end_adopted(pid: int) -> None:
    """End what is not our child, so that there is nothing to wait for but its absence.

    Raises:
        ProcessLookupError: If there is no such process.
    """
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    descriptor = os.pidfd_open(pid)
    loop.add_reader(descriptor, ended.set)
    try:
        signal.pidfd_send_signal(descriptor, signal.SIGTERM)
        async with asyncio.timeout(END_SECONDS):
            await ended.wait()
    except TimeoutError:
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def _client_of(entry: Entry) -> DesktopClient:
    return DesktopClient(entry.address, Path(entry.token_file).read_text().strip())


def _last_line(log: Path) -> str:
    told = log.read_text(errors="replace").strip().splitlines()
    return told[-1] if told else ""
