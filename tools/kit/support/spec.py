"""What a tool is: its description for a model, and what a call of it gives back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

Json = dict[str, Any]


@dataclass(frozen=True)
class ToolSpec:
    """A tool as a model is told of it."""

    name: str
    description: str
    schema: Json
    """JSON Schema of the arguments, an object."""


@dataclass(frozen=True)
class ToolOutcome:
    """What a call gave: a JSON value for the model, or the text of an error."""

    value: Json = field(default_factory=dict)
    error: str | None = None

    @property
    def is_error(self) -> bool:
        """Whether the call failed."""
        return self.error is not None


class Machine(Protocol):
    """The computer that a chat's tools work on: its desktop service's HTTP API.

    ``path`` starts with ``/api/v0/``. Raises ``MachineRefused`` with status, message and detail
    when the service says no, ``MachineUnavailable`` when it cannot be reached.
    """

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> Any:
        """Send one request and return its JSON body; ``bytes`` if it is not JSON."""


class MachineRefused(Exception):
    """The machine answered no."""

    def __init__(self, status: int, message: str, detail: str = "", code: str = "") -> None:
        super().__init__(status, message, detail, code)
        self.status = status
        self.message = message
        self.detail = detail
        self.code = code
        """For programs, as ``tool_call_canceled``; empty where the status says enough."""

    def __str__(self) -> str:
        return f"{self.message} {self.detail}".strip()


class MachineUnavailable(Exception):
    """The machine cannot be reached; what was asked of it may have been heard."""


class NoMachine(MachineUnavailable):
    """There is none, so that nothing was asked of it."""


@dataclass(frozen=True)
class ToolContext:
    """Who calls, and on which machine."""

    chat_id: str
    tool_call_id: str
    machine: Machine


class Tool(Protocol):
    """One callable tool."""

    @property
    def spec(self) -> ToolSpec:
        """What a model is told."""

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        """Do it. Cancelling stops waiting, not what was started."""


@runtime_checkable
class Interruptible(Protocol):
    """A tool whose calls leave something going when they are cut short."""

    async def interrupted(self, arguments: Json, context: ToolContext) -> ToolOutcome | None:
        """Stop what such a call started and tell what became of it; None if nobody knows."""
