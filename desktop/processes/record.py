"""What is known of a process besides the process itself."""

from dataclasses import dataclass
from pathlib import Path

from deskhand.desktop.tool_calls.caller import CallingChat

from .process import Process
from .requests import StartRequest


@dataclass
class Record:
    """A process and what is known about its start."""

    id: str
    request: StartRequest
    name: str
    workdir: Path
    chat: CallingChat | None
    process: Process
    started_at: float
    """Unix time."""
    started: float
    """On the registry's clock."""
    number: int
    """Counts the starts: two in the same tick have an order too."""
    exited_at: float | None = None
    ended: float | None = None
    """On the registry's clock."""
    canceled: bool = False

    @property
    def running(self) -> bool:
        """Whether its shell lives."""
        return self.process.exit is None


@dataclass(frozen=True)
class Listing:
    """A page of processes out of ``total``."""

    records: tuple[Record, ...]
    total: int
