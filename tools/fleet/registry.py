"""Running desktop services, noted on disk so that a later control plane finds them again."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from deskhand.tools.store.private_file import write_private

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class RegisteredDesktop:
    """One desktop service: which process it is, and how to call it."""

    id: str
    name: str
    chat_id: str | None
    pid: int
    start_time: int
    """Clock ticks after boot, field 22 of proc(5)'s stat: with pid and boot it names a process."""
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


class DesktopRegistry:
    """The folder of entries; each is a file readable by its owner alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def prepare(self) -> None:
        """Make the folder."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def token_file(self, desktop_id: str) -> Path:
        """Return where a desktop's token is kept."""
        return self._folder / f"{desktop_id}.token"

    def write_token(self, desktop_id: str, token: str) -> Path:
        """Keep a token where only its owner reads it, and return the path."""
        path = self.token_file(desktop_id)
        write_private(path, token + "\n")
        return path

    def save(self, entry: RegisteredDesktop) -> None:
        """Write an entry, whole or not at all."""
        text = json.dumps(asdict(entry), indent=2) + "\n"
        write_private(self._folder / f"{entry.id}.json", text)

    def remove(self, desktop_id: str) -> None:
        """Forget an entry and its token; one that is gone is fine."""
        (self._folder / f"{desktop_id}.json").unlink(missing_ok=True)
        self.token_file(desktop_id).unlink(missing_ok=True)

    def all(self) -> Iterator[RegisteredDesktop]:
        """Yield every readable entry; a broken file is removed, since nobody can use it."""
        for path in sorted(self._folder.glob("*.json")):
            try:
                yield RegisteredDesktop(**json.loads(path.read_text()))
            except (ValueError, TypeError):
                self.remove(path.stem)


def boot_id() -> str:
    """Return what tells this boot of the machine from any other."""
    return BOOT_ID.read_text().strip()


def start_time(pid: int) -> int | None:
    """Return when a process started, in clock ticks after boot; ``None`` when there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command's name stands in parentheses and may hold spaces and parentheses of its own.
    state, *fields = stat.rpartition(")")[2].split()
    return None if state == "Z" else int(fields[18])


def is_alive(entry: RegisteredDesktop) -> bool:
    """Return whether the very process that the entry names still runs."""
    return entry.boot_id == boot_id() and start_time(entry.pid) == entry.start_time
