"""The tools that start and control subagents."""

import uuid
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from deskhand.desktop.network.egress import MODES, EgressRequest
from deskhand.tools.conversation.chat_start import ChatStart, read_start
from deskhand.tools.conversation.errors import BadChatRequest
from deskhand.tools.conversation.restrictions import ChatRestrictions, read_restrictions
from deskhand.tools.kit.support.arguments import (
    BadArguments,
    check_known,
    flag,
    number,
    optional_text,
    text,
)
from deskhand.tools.kit.support.order_schema import ORDER
from deskhand.tools.kit.support.spec import Json, Tool, ToolContext, ToolOutcome, ToolSpec

BUDGET = ("steps", "minutes", "tokens", "usd")
KINDS = ("general", "explore", "computer_use")
_CHAT_ID: Json = {"type": "string", "format": "uuid", "description": "The id that spawning gave."}
_TEXT: Json = {"type": "string"}


@dataclass(frozen=True)
class SubagentRequest:
    """Task and resources of a new subagent."""

    prompt: str
    title: str = ""
    model: str | None = None
    kind: str = "computer_use"
    """``computer_use``, ``general`` or ``explore``; only ``computer_use`` sees a desktop."""
    desktop: str = "own"
    """``own``, ``shared`` with the parent, or a desktop's id."""
    budget: Json = field(default_factory=dict)
    egress: EgressRequest = field(default_factory=EgressRequest)
    """The network of its own desktop; at most what the parent's may reach."""
    without_execute: bool = False
    """True if it gets no tools to run programs."""
    restrictions: ChatRestrictions = field(default_factory=ChatRestrictions)
    """At least those of its parent apply."""
    effort: str | None = None
    """Effort of its model; None for the usual one."""
    start: ChatStart = field(default_factory=ChatStart)
    """Its working directory lies below that of its parent."""


class Subagents(Protocol):
    """The subagents of a chat, which are its child chats."""

    async def spawn(self, caller_id: str, order: SubagentRequest) -> Json:
        """Start a subagent and return its chat id and addresses."""

    async def wait(self, caller_id: str, chat_id: str, seconds: float) -> Json:
        """Wait for the end of one subagent's turn and return its result."""

    async def wait_for_all(
        self, caller_id: str, chat_ids: list[str], seconds: float, mode: Literal["all", "any"]
    ) -> Json:
        """Wait for all of several subagents, or for any one of them."""

    async def message(self, caller_id: str, chat_id: str, message: str, interrupt: bool) -> Json:
        """Send a message to a subagent."""

    async def interrupt(self, caller_id: str, chat_id: str) -> Json:
        """Stop a subagent's turn."""

    async def close(self, caller_id: str, chat_id: str) -> Json:
        """End a subagent permanently."""

    async def list(self, caller_id: str, limit: int, offset: int) -> Json:
        """Return one page of the subagents, newest first."""


class SubagentTool(ABC):
    """A tool on the subagents of the calling chat."""

    def __init__(self, spec: ToolSpec, subagents: Subagents) -> None:
        self._spec = spec
        self._subagents = subagents

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return self._spec

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        """Run the tool; bad arguments are an error result."""
        try:
            check_known(arguments, self._spec.schema)
            return ToolOutcome(await self.run(arguments, context.chat_id, self._subagents))
        except BadArguments as error:
            return ToolOutcome(error=str(error))

    @abstractmethod
    async def run(self, arguments: Json, caller_id: str, subagents: Subagents) -> Json:
        """Read the arguments and perform the operation. Raises ``BadArguments``."""


class SpawnTool(SubagentTool):
    """Starts a subagent on a desktop."""

    async def run(self, arguments: Json, caller_id: str, subagents: Subagents) -> Json:
        """Start the subagent, without waiting for its result."""
        return await subagents.spawn(caller_id, _order(arguments, "computer_use"))


class SpawnAnyTool(SubagentTool):
    """Starts a subagent of the requested kind."""

    async def run(self, arguments: Json, caller_id: str, subagents: Subagents) -> Json:
        """Start the subagent, without waiting for its result."""
        kind = text(arguments, "type").strip()
        if kind not in KINDS:
            raise BadArguments(f"type must be one of {', '.join(KINDS)}")
        return await subagents.spawn(caller_id, _order(arguments, kind))


class WaitTool(SubagentTool):
    """Waits for the results of subagents."""

    async def run(self, arguments: Json, caller_id: str, subagents: Subagents) -> Json:
        """Return when their turns have ended, or at the timeout."""
        seconds = _seconds(arguments.get("timeout_seconds"))
        several = arguments.get("chat_ids")
        if several is None:
            return await subagents.wait(caller_id, _chat_id(arguments), seconds)
        if not isinstance(several, list) or not several:
            raise BadArguments("chat_ids must be a list of at least one id")
        # Duplicates are dropped, the order is kept: results come in the order of the ids.
        ids = list(dict.fromkeys(_uuid(chat_id) for chat_id in several))
        match arguments.get("mode") or "all":
            case "all":
                return await subagents.wait_for_all(caller_id, ids, seconds, "all")
            case "any":
                return await subagents.wait_for_all(caller_id, ids, seconds, "any")
        raise BadArguments("mode must be all or any")


class MessageTool(SubagentTool):
    """Sends a message to a subagent."""

    async def run(self, arguments: Json, caller_id: str, subagents: Subagents) -> Json:
        """Send the message now, or queue it until the end of the turn."""
        chat_id = _chat_id(arguments)
        message = text(arguments, "message")
        return await subagents.message(caller_id, chat_id, message, flag(arguments, "interrupt"))


class InterruptTool(SubagentTool):
    """Stops a subagent's turn."""

    async def run(self, arguments: Json, caller_id: str, subagents: Subagents) -> Json:
        """Stop the turn; the subagent still accepts messages."""
        return await subagents.interrupt(caller_id, _chat_id(arguments))


class CloseTool(SubagentTool):
    """Ends a subagent permanently."""

    async def run(self, arguments: Json, caller_id: str, subagents: Subagents) -> Json:
        """Stop its turn and release its desktop."""
        return await subagents.close(caller_id, _chat_id(arguments))


class ListTool(SubagentTool):
    """Lists the subagents of the calling chat."""

    async def run(self, arguments: Json, caller_id: str, subagents: Subagents) -> Json:
        """Return one page of the list."""
        # The schema has these bounds too, but models may exceed a schema.
        limit = min(number(arguments, "limit") or 10, 50)
        return await subagents.list(caller_id, limit, number(arguments, "offset"))


def subagent_tools(subagents: Subagents) -> tuple[Tool, ...]:
    """Return the tools of a chat that may start subagents."""
    return (
        SpawnTool(SPAWN, subagents),
        SpawnAnyTool(SPAWN_ANY, subagents),
        WaitTool(WAIT, subagents),
        MessageTool(MESSAGE, subagents),
        InterruptTool(INTERRUPT, subagents),
        CloseTool(CLOSE, subagents),
        ListTool(LIST, subagents),
    )


def _order(arguments: Json, kind: str) -> SubagentRequest:
    return SubagentRequest(
        prompt=text(arguments, "prompt"),
        title=optional_text(arguments, "title"),
        model=optional_text(arguments, "model").strip() or None,
        kind=kind,
        desktop=optional_text(arguments, "desktop").strip() or "own",
        budget=_budget(arguments.get("budget")),
        egress=_egress(arguments),
        without_execute=flag(arguments, "without_execute"),
        restrictions=_restrictions(arguments),
        effort=optional_text(arguments, "effort").strip() or None,
        start=_start(arguments),
    )


def _start(arguments: Json) -> ChatStart:
    try:
        return read_start(arguments)
    except BadChatRequest as error:
        raise BadArguments(str(error)) from error


def _restrictions(arguments: Json) -> ChatRestrictions:
    try:
        return read_restrictions(arguments)
    except BadChatRequest as error:
        raise BadArguments(str(error)) from error


def _egress(arguments: Json) -> EgressRequest:
    text, allow = arguments.get("egress"), arguments.get("allow") or []
    mode = next((one for one in MODES if one == text), None)
    if text is not None and mode is None:
        raise BadArguments(f"egress must be one of {', '.join(MODES)}")
    if not isinstance(allow, list) or not all(isinstance(name, str) for name in allow):
        raise BadArguments("allow must be a list of names")
    return EgressRequest(mode, tuple(allow))


def _chat_id(arguments: Json) -> str:
    return _uuid(arguments.get("chat_id"))


def _uuid(value: Any) -> str:
    try:
        return str(uuid.UUID(value))
    except (ValueError, TypeError, AttributeError):
        raise BadArguments("chat_id must be a valid UUID") from None


def _seconds(value: Any) -> float:
    if value is None:
        return 0.0
    try:
        # ``value != value`` holds for NaN only, which JSON parsers in Python accept.
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            raise ValueError(value)
        return float(value)
    except (ValueError, OverflowError) as error:
        raise BadArguments("timeout_seconds must be a number of seconds") from error


def _budget(value: Any) -> Json:
    if value is None:
        return {}
    if not isinstance(value, dict) or not set(value) <= set(BUDGET):
        raise BadArguments("budget must be an object with steps, minutes, tokens or usd")
    for name, amount in value.items():
        # Steps and tokens are counted: only minutes and money may be fractional.
        whole = name in ("minutes", "usd") or isinstance(amount, int)
        # ``bool`` is a subclass of ``int``, so ``true`` would count as 1.
        if isinstance(amount, bool) or not isinstance(amount, int | float) or not whole:
            raise BadArguments(f"budget.{name} must be a number")
        # Not ``amount <= 0``, which is false for NaN.
        if not amount > 0:
            raise BadArguments(f"budget.{name} must be more than 0")
    return dict(value)


SPAWN = ToolSpec(
    "spawn_computer_use_agent",
    "Start an agent that works on a desktop of its own with mouse, keyboard, browser and terminal, "
    "and return at once. It knows nothing of this conversation: put all it needs into the prompt. "
    "Collect what came of it with wait_agent; its work is recorded as a video.",
    {"type": "object", "properties": ORDER, "required": ["prompt"]},
)
SPAWN_ANY = ToolSpec(
    "spawn_agent",
    "Start an agent and return at once. computer_use: on a desktop, with mouse, keyboard and "
    "browser. general: with commands and files only. explore: the same, to find things out and "
    "change nothing. It knows nothing of this conversation: put all it needs into the prompt. "
    "Collect what came of it with wait_agent.",
    {
        "type": "object",
        "properties": {"type": {"enum": list(KINDS)}, **ORDER},
        "required": ["type", "prompt"],
    },
)
WAIT = ToolSpec(
    "wait_agent",
    "Wait until an agent is through and return its report, status and the id of its recording. "
    "Returns as soon as the agent ends; one that has ended is answered at once, as often as you "
    "ask. After timeout_seconds (default 300) it returns timed_out with the progress so far: the "
    "agent goes on, so wait again.",
    {
        "type": "object",
        "properties": {
            "chat_id": _CHAT_ID,
            "chat_ids": {
                "type": "array",
                "items": _CHAT_ID,
                "minItems": 1,
                "description": "Several agents at once, instead of chat_id.",
            },
            "mode": {
                "enum": ["all", "any"],
                "description": "With chat_ids: wait for all (default) or for the first.",
            },
            "timeout_seconds": {"type": "number"},
        },
    },
)
MESSAGE = ToolSpec(
    "message_agent",
    "Send a further message to an agent. One at work hears it when its turn ends, or at once with "
    "interrupt; one at rest starts to work on it. Then wait_agent again.",
    {
        "type": "object",
        "properties": {
            "chat_id": _CHAT_ID,
            "message": _TEXT,
            "interrupt": {"type": "boolean", "description": "Stop what it does now."},
        },
        "required": ["chat_id", "message"],
    },
)
INTERRUPT = ToolSpec(
    "interrupt_agent",
    "Stop what an agent does now. It keeps its desktop and can be sent another message.",
    {"type": "object", "properties": {"chat_id": _CHAT_ID}, "required": ["chat_id"]},
)
CLOSE = ToolSpec(
    "close_agent",
    "End an agent that is not needed any more: its turn stops, its recording is stored, its "
    "desktop is given back.",
    {"type": "object", "properties": {"chat_id": _CHAT_ID}, "required": ["chat_id"]},
)
LIST = ToolSpec(
    "list_agents",
    "List the agents that this chat has started, those that changed last first.",
    {
        "type": "object",
        "properties": {
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
            "offset": {"type": "integer", "minimum": 0, "default": 0},
        },
    },
)
