"""Records of processes in the registry, and pages of them."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from deskhand.desktop.tool_calls.caller import CallingChat

from .process import Process
from .requests import LaunchRequest, StartRequest


@dataclass
class Record:
    """A process with the facts about its start and exit."""

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
    """Sequence number of the start; orders two starts within one clock tick."""
    exited_at: float | None = None
    ended: float | None = None
    """On the registry's clock."""
    canceled: bool = False
    noting: asyncio.Task[object] | None = None
    """Writes the file about the exit beside a copy of the output that the caller requested."""

    @property
    def running(self) -> bool:
        """True until the shell has exited."""
        return self.process.exit is None

    @property
    def launched(self) -> bool:
        """True for a running application that the service launched."""
        return self.running and isinstance(self.request, LaunchRequest)


@dataclass(frozen=True)
class Listing:
    """A page of processes out of ``total``."""

    records: tuple[Record, ...]
    total: int
