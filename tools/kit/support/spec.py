"""The contract between tools, their callers and machines.

A tool has a `ToolSpec` for the model and a ``call`` that returns a `ToolOutcome`: a value, or the
text of an error for the model. A tool reaches its computer only through `Machine`, which sends
requests to the desktop service. `MachineRefused` is an error response of the service. After
`MachineUnavailable` the outcome is unknown, except after `NoMachine`: no request was sent.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, runtime_checkable

from deskhand.desktop.fields import Fields
from deskhand.tools.conversation.conversation import Image
from deskhand.tools.conversation.step_target import StepTarget

Json = dict[str, Any]

INSUFFICIENT_STORAGE = 507
"""Status of an error response where a disk has no room (RFC 4918, section 11.5)."""

HUMAN_IN_CONTROL = "human_in_control"
"""Code of an error response while a person is in control."""


@dataclass(frozen=True)
class ToolSpec:
    """Description of a tool for a model."""

    name: str
    description: str
    schema: Json
    """JSON Schema of the arguments, an object."""
    fields: Fields | None = field(default=None, compare=False, repr=False)
    """The arguments, of which the schema is made; None if another service reads them."""

    @classmethod
    def of(cls, name: str, description: str, fields: Fields) -> Self:
        """Return the description of a tool with these arguments."""
        return cls(name, description, fields.schema, fields)


@dataclass(frozen=True)
class ToolOutcome:
    """Outcome of a call: a JSON value for the model, or the text of an error."""

    value: Json = field(default_factory=dict)
    error: str | None = None
    no_room: bool = False
    """True if it failed because a disk has no room for what it writes."""
    pictures: tuple[Image, ...] = ()
    """Pictures for the model, beside the value."""
    targets: tuple[StepTarget | None, ...] = ()
    """What an action on the screen was aimed at, for the step."""

    @classmethod
    def of_error(cls, error: Exception, text: str = "") -> Self:
        """Return the outcome of a call that failed with this error; ``text`` replaces its own."""
        refused = isinstance(error, MachineRefused) and error.status == INSUFFICIENT_STORAGE
        return cls(error=text or str(error), no_room=refused)

    @property
    def is_error(self) -> bool:
        """True if the call failed."""
        return self.error is not None


class Machine(Protocol):
    """The computer that a chat's tools work on: the HTTP API of its desktop service.

    ``path`` starts with ``/api/v0/``. Raises ``MachineRefused`` with status, message and detail
    of an error response, ``MachineUnavailable`` if there is no response.
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
    """The machine returned an error response."""

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
    """No response from the machine; it may have received the request."""


class NoMachine(MachineUnavailable):
    """The chat has no machine, so no request was sent."""


async def no_wait() -> str:
    """Return that there was no session, without waiting for one to end."""
    return ""


@dataclass(frozen=True)
class ToolContext:
    """The calling chat, the id of the call, and the machine to work on."""

    chat_id: str
    tool_call_id: str
    machine: Machine
    after_person: Callable[[], Awaitable[str]] = no_wait
    """Waits until no person is in control, and returns the report on the session; empty without
    one. Callers outside of a conversation get the refusal instead of a wait."""
    step_id: str = ""
    """The step of the call, by which it finds its question again after a restart."""
    hide: Callable[[str], str] = str
    """Masks the values of secrets in a text for people."""
    workdir: str = ""
    """The chat's directory below the machine's working directory; empty for that."""


class Tool(Protocol):
    """One callable tool."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        """Execute the call. Cancelling stops the wait, but nothing that was started."""


@runtime_checkable
class Interruptible(Protocol):
    """A tool whose calls leave a process running when they are cancelled."""

    async def interrupted(self, arguments: Json, context: ToolContext) -> ToolOutcome | None:
        """Stop what a cancelled call has started and return the outcome; None if unknown."""
