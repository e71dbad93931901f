"""The tools that start and control subagents."""

import uuid
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from deskhand.desktop.fields import (
    Field,
    Fields,
    count,
    each,
    filled_text,
    number,
    one_of,
    spoken_flag,
    wrong,
)
from deskhand.desktop.network.egress import EgressRequest
from deskhand.tools.conversation.chat_start import ChatStart, read_start
from deskhand.tools.conversation.errors import BadChatRequest
from deskhand.tools.conversation.restrictions import ChatRestrictions, read_restrictions
from deskhand.tools.kit.support.arguments import CheckedTool, unusable
from deskhand.tools.kit.support.order_schema import ORDER
from deskhand.tools.kit.support.spec import Json, Tool, ToolContext, ToolOutcome, ToolSpec

KINDS = ("general", "explore", "computer_use")
USUAL_PAGE, LARGEST_PAGE = 10, 50
"""Agents of one list."""


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


class SubagentTool(CheckedTool):
    """A tool on the subagents of the calling chat."""

    def __init__(self, spec: ToolSpec, subagents: Subagents) -> None:
        self._spec = spec
        self._subagents = subagents

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return self._spec

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Perform the operation."""
        return ToolOutcome(await self.perform(given, context.chat_id, self._subagents))

    @abstractmethod
    async def perform(self, given: Json, caller_id: str, subagents: Subagents) -> Json:
        """Perform the operation for the calling chat. Raises ``BadField``."""


class SpawnTool(SubagentTool):
    """Starts a subagent on a desktop."""

    async def perform(self, given: Json, caller_id: str, subagents: Subagents) -> Json:
        """Start the subagent, without waiting for its result."""
        return await subagents.spawn(caller_id, _order(given, "computer_use"))


class SpawnAnyTool(SubagentTool):
    """Starts a subagent of the requested kind."""

    async def perform(self, given: Json, caller_id: str, subagents: Subagents) -> Json:
        """Start the subagent, without waiting for its result."""
        return await subagents.spawn(caller_id, _order(given, given["type"]))


class WaitTool(SubagentTool):
    """Waits for the results of subagents."""

    async def perform(self, given: Json, caller_id: str, subagents: Subagents) -> Json:
        """Return when their turns have ended, or at the timeout."""
        one, several, seconds = given["chat_id"], given["chat_ids"], given["timeout_seconds"]
        if (one is None) == (several is None):
            raise unusable("chat_id", "give either chat_id or chat_ids")
        if several is None:
            return await subagents.wait(caller_id, one, seconds)
        # Duplicates are dropped, the order is kept: results come in the order of the ids.
        ids = list(dict.fromkeys(several))
        return await subagents.wait_for_all(caller_id, ids, seconds, given["mode"])


class MessageTool(SubagentTool):
    """Sends a message to a subagent."""

    async def perform(self, given: Json, caller_id: str, subagents: Subagents) -> Json:
        """Send the message now, or queue it until the end of the turn."""
        return await subagents.message(
            caller_id, given["chat_id"], given["message"], given["interrupt"]
        )


class InterruptTool(SubagentTool):
    """Stops a subagent's turn."""

    async def perform(self, given: Json, caller_id: str, subagents: Subagents) -> Json:
        """Stop the turn; the subagent still accepts messages."""
        return await subagents.interrupt(caller_id, given["chat_id"])


class CloseTool(SubagentTool):
    """Ends a subagent permanently."""

    async def perform(self, given: Json, caller_id: str, subagents: Subagents) -> Json:
        """Stop its turn and release its desktop."""
        return await subagents.close(caller_id, given["chat_id"])


class ListTool(SubagentTool):
    """Lists the subagents of the calling chat."""

    async def perform(self, given: Json, caller_id: str, subagents: Subagents) -> Json:
        """Return one page of the list."""
        # The schema has these bounds too, but models may exceed a schema.
        limit = min(given["limit"] or USUAL_PAGE, LARGEST_PAGE)
        return await subagents.list(caller_id, limit, given["offset"])


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


def _order(given: Json, kind: str) -> SubagentRequest:
    try:
        restrictions, start = read_restrictions(given), read_start(given)
    except BadChatRequest as error:
        raise unusable("", str(error)) from error
    return SubagentRequest(
        prompt=given["prompt"],
        title=given["title"],
        model=given["model"],
        kind=kind,
        desktop=given["desktop"],
        budget=given["budget"],
        egress=EgressRequest(given["egress"], given["allow"]),
        without_execute=given["without_execute"],
        restrictions=restrictions,
        effort=given["effort"],
        start=start,
    )


def _uuid(name: str, value: Any) -> str:
    try:
        return str(uuid.UUID(value))
    except (ValueError, TypeError, AttributeError):
        raise wrong(name, "a valid UUID") from None


def _uuids(name: str, value: Any) -> tuple[str, ...] | None:
    return each(_uuid)(name, value) or None


_CHAT_ID = Field(
    {"type": "string", "format": "uuid", "description": "The id that spawning gave."}, _uuid
)
SPAWN = ToolSpec.of(
    "spawn_computer_use_agent",
    "Start an agent that works on a desktop of its own with mouse, keyboard, browser and terminal, "
    "and return at once. It knows nothing of this conversation: put all it needs into the prompt. "
    "Collect what came of it with wait_agent; its work is recorded as a video.",
    Fields(ORDER, ("prompt",)),
)
SPAWN_ANY = ToolSpec.of(
    "spawn_agent",
    "Start an agent and return at once. computer_use: on a desktop, with mouse, keyboard and "
    "browser. general: with commands and files only. explore: the same, to find things out and "
    "change nothing. It knows nothing of this conversation: put all it needs into the prompt. "
    "Collect what came of it with wait_agent.",
    Fields({"type": Field({"enum": list(KINDS)}, one_of(*KINDS)), **ORDER}, ("type", "prompt")),
)
WAIT = ToolSpec.of(
    "wait_agent",
    "Wait until an agent is through and return its report, status and the id of its recording. "
    "Returns as soon as the agent ends; one that has ended is answered at once, as often as you "
    "ask. After timeout_seconds (default 300) it returns timed_out with the progress so far: the "
    "agent goes on, so wait again.",
    Fields(
        {
            "chat_id": _CHAT_ID,
            "chat_ids": Field(
                {
                    "type": "array",
                    "items": _CHAT_ID.schema,
                    "minItems": 1,
                    "description": "Several agents at once, instead of chat_id.",
                },
                _uuids,
            ),
            "mode": Field(
                {
                    "enum": ["all", "any"],
                    "description": "With chat_ids: wait for all (default) or for the first.",
                },
                one_of("all", "any"),
                "all",
            ),
            "timeout_seconds": Field({"type": "number"}, number, 0.0),
        }
    ),
)
MESSAGE = ToolSpec.of(
    "message_agent",
    "Send a further message to an agent. One at work hears it when its turn ends, or at once with "
    "interrupt; one at rest starts to work on it. Then wait_agent again.",
    Fields(
        {
            "chat_id": _CHAT_ID,
            "message": Field({"type": "string"}, filled_text),
            "interrupt": Field(
                {"type": "boolean", "description": "Stop what it does now."}, spoken_flag, False
            ),
        },
        ("chat_id", "message"),
    ),
)
INTERRUPT = ToolSpec.of(
    "interrupt_agent",
    "Stop what an agent does now. It keeps its desktop and can be sent another message.",
    Fields({"chat_id": _CHAT_ID}, ("chat_id",)),
)
CLOSE = ToolSpec.of(
    "close_agent",
    "End an agent that is not needed any more: its turn stops, its recording is stored, its "
    "desktop is given back.",
    Fields({"chat_id": _CHAT_ID}, ("chat_id",)),
)
LIST = ToolSpec.of(
    "list_agents",
    "List the agents that this chat has started, those that changed last first.",
    Fields(
        {
            "limit": Field(
                {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": USUAL_PAGE},
                count,
                0,
            ),
            "offset": Field({"type": "integer", "minimum": 0, "default": 0}, count, 0),
        }
    ),
)
