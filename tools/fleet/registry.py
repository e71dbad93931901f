"""Running desktop services, recorded on disk so that a later control plane finds them.

An entry may be older than its process: after a reboot or a crash its pid may belong to another
process. `is_alive` therefore compares boot id and start time as well.
"""

import asyncio
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deskhand.desktop.isolation.process_identity import boot_id, start_time
from deskhand.tools.store.private_file import write_private


@dataclass(frozen=True)
class RegisteredDesktop:
    """One desktop service: the identity of its process, and its address."""

    id: str
    name: str
    chat_id: str | None
    pid: int
    start_time: int
    """Clock ticks after boot, field 22 of proc_pid_stat(5)."""
    boot_id: str
    address: str
    token_file: str
    folder: str
    created_at: float
    """Unix time, in seconds."""
    display: str = ""
    level: str = ""
    width: int = 0
    height: int = 0
    """Of its display, in native pixels."""
    browser_warning: str = ""
    missing_protections: tuple[str, ...] = ()
    has_display: bool = True
    """False until the display of a desktop that was started without one is used."""
    egress: dict[str, Any] | None = None
    speak: tuple[str, ...] = ()
    """Dialects that are on."""
    template: str = ""
    """Name of its template; empty for none."""
    profile: str = ""
    """Name of the profile of its browser; empty for one that ends with it."""


FIELDS = RegisteredDesktop.__dataclass_fields__.keys()
BEFORE_PROTECTIONS = "all: none, because a version of Deskhand without them started this desktop"
"""Missing protections of a desktop whose entry names none."""


class DesktopRegistry:
    """The folder of entries; each is a file that only its owner can read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def prepare(self) -> None:
        """Create the folder."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def token_file(self, desktop_id: str) -> Path:
        """Return the path of a desktop's token."""
        return self._folder / f"{desktop_id}.token"

    def write_token(self, desktop_id: str, token: str) -> Path:
        """Write a token to a file that only its owner can read, and return the path."""
        path = self.token_file(desktop_id)
        write_private(path, token + "\n")
        return path

    def save(self, entry: RegisteredDesktop) -> None:
        """Write an entry atomically."""
        text = json.dumps(asdict(entry), indent=2) + "\n"
        write_private(self._folder / f"{entry.id}.json", text)

    def remove(self, desktop_id: str) -> None:
        """Remove an entry and its token; one that is missing is no error."""
        (self._folder / f"{desktop_id}.json").unlink(missing_ok=True)
        self.token_file(desktop_id).unlink(missing_ok=True)

    def get(self, desktop_id: str) -> RegisteredDesktop | None:
        """Return one entry, ``None`` if there is none."""
        return next((entry for entry in self.all() if entry.id == desktop_id), None)

    def all(self) -> Iterator[RegisteredDesktop]:
        """Yield every readable entry; a file that cannot be read is removed."""
        for path in sorted(self._folder.glob("*.json")):
            try:
                # Another version of the program may have written more fields.
                written = json.loads(path.read_text()).items()
                fields = {name: value for name, value in written if name in FIELDS}
                lacking = fields.pop("missing_protections", (BEFORE_PROTECTIONS,))
                spoken = fields.pop("speak", ())
                yield RegisteredDesktop(
                    **fields, missing_protections=tuple(lacking), speak=tuple(spoken)
                )
            # ``TypeError``: another version of the program may have written fewer fields.
            except (ValueError, TypeError, AttributeError):
                self.remove(path.stem)


def is_alive(entry: RegisteredDesktop) -> bool:
    """Return whether the process of the entry still runs."""
    return entry.boot_id == boot_id() and start_time(entry.pid) == entry.start_time


async def exit_of(pid: int) -> None:
    """Return when a process has exited, our child or not.

    Raises:
        ProcessLookupError: If there is no such process.
    """
    # A pidfd becomes readable when the process exits, and never refers to a reused pid.
    descriptor = os.pidfd_open(pid)
    try:
        await readable(descriptor)
    finally:
        os.close(descriptor)


async def readable(descriptor: int) -> None:
    """Return when a descriptor can be read; a pidfd, when its process has exited."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
