"""What the chats need from the rest of the program."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from deskhand.tools.agents.providers.port import Model, Role
from deskhand.tools.kit.support.spec import Machine


class DesktopMachine(Machine, Protocol):
    """One chat's way to its desktop service."""

    def for_call(self, tool_call_id: str) -> "DesktopMachine":
        """Return the same machine, its requests marked with a tool call's id."""

    async def download(self, path: str, to: Path) -> int:
        """Stream a response's body into a file and return its length in bytes."""


class DesktopSource(Protocol):
    """The desktops of this control plane."""

    async def acquire(self, chat_id: str, *, name: str) -> str:
        """Start a desktop for that chat and return its id once it is ready."""

    async def default(self) -> str:
        """Return the desktop of chats that have none, started at its first use."""

    def machine(self, desktop_id: str, chat_id: str, ancestors: tuple[str, ...]) -> DesktopMachine:
        """Return a chat's way to a desktop; its address is looked up at each call."""

    async def release(self, desktop_id: str) -> None:
        """End a desktop; one that is gone already is fine."""

    def known(self, desktop_id: str) -> bool:
        """Whether a desktop of this id runs."""

    async def in_use(self, desktop_id: str) -> bool:
        """Whether somebody watches a desktop or is in control of it."""


class Models(Protocol):
    """The models that may be had."""

    def resolve(self, model: str | None, *, role: Role) -> tuple[str, Model]:
        """Return the full name of a model and the model; ``None`` means the usual one.

        Raises:
            NoModel: If it cannot be had, with what to do.
        """


@dataclass(frozen=True)
class ChatSettings:
    """Limits and addresses of the chats."""

    base_url: str = ""
    """What the addresses for people start with, as ``http://127.0.0.1:7777``."""
    queue_limit: int = 20
    wait_seconds: float = 300.0
    desktops: int = 8
    """Most own desktops of computer-use chats at once; more wait in a queue."""
    desktop_rest_seconds: float = 30 * 60.0
    """How long a chat at rest keeps a desktop of its own that nobody uses."""
    recording_seconds: float = 90.0
    """How long the end of a turn may wait for its recording to be stored."""
    closing_seconds: float = 3.0
    """The same when the whole program ends."""

    def live_url(self, desktop_id: str | None) -> str | None:
        """Return where a person can watch that desktop."""
        return None if desktop_id is None else f"{self.base_url}/desktops/{desktop_id}"

    def run_url(self, chat_id: str) -> str:
        """Return where a person can see what that chat does and did."""
        return f"{self.base_url}/runs/{chat_id}"


Now = Callable[[], float]
"""The clock on the wall: unix time in seconds."""
