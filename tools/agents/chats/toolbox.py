"""The tools of one chat; each call is a step that is written down before and after."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.desktops.lazy_machine import LazyMachine
from deskhand.tools.agents.desktops.ports import DesktopMachine
from deskhand.tools.agents.loop.interruption import CallInterrupted
from deskhand.tools.conversation.conversation import Image, Text, ToolCall, ToolResult
from deskhand.tools.conversation.errors import ChatError
from deskhand.tools.conversation.states import ChatState
from deskhand.tools.conversation.titles import step_title, withheld
from deskhand.tools.conversation.views import StepView
from deskhand.tools.kit.computer import ComputerOutcome
from deskhand.tools.kit.support.spec import (
    Interruptible,
    MachineRefused,
    MachineUnavailable,
    Tool,
    ToolContext,
    ToolOutcome,
    ToolSpec,
)
from deskhand.tools.store import chats, steps
from deskhand.tools.store.errors import StoreError

from . import transitions as moves
from .recordings import TurnRecording
from .repository import ChatRepository
from .transcript import result_to_json

log = logging.getLogger(__name__)
Json = dict[str, Any]

# What a recorder takes of a step.
_LONGEST_NAME, _LONGEST_ERROR = 200, 10_000


class Computer(Protocol):
    """The provider's computer tool."""

    @property
    def people_seconds(self) -> float:
        """How long people were in control of the desktop meanwhile."""

    async def act(self, call: ToolCall) -> ComputerOutcome:
        """Do one action and look at what came of it."""

    async def glance(self) -> Image | None:
        """Keep a small picture of the screen for people; None if it may not be seen now."""


@dataclass(frozen=True)
class CallResult:
    """What one tool call returned: to the caller, and as the model reads it."""

    outcome: ToolOutcome
    result: ToolResult
    timings: Json = field(default_factory=dict)
    details: Json = field(default_factory=dict)
    told: Json | None = None
    """What is told of the arguments in the end, if that was not known at the beginning."""


class ChatToolbox:
    """What one chat may call, and how."""

    def __init__(
        self,
        book: ChatRepository,
        chat_id: str,
        tools: Mapping[str, Tool],
        find_machine: Callable[[], Awaitable[DesktopMachine]],
        *,
        computer: Computer | None = None,
        recording: TurnRecording | None = None,
    ) -> None:
        self._book = book
        self._chat_id = chat_id
        self._tools = tools
        self._find_machine = find_machine
        self._computer = computer
        self._recording = recording

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What a model is told."""
        return tuple(tool.spec for tool in self._tools.values())

    @property
    def computer(self) -> bool:
        """Whether the provider's computer tool is served."""
        return self._computer is not None

    @property
    def people_seconds(self) -> float:
        """How long people were in control of the desktop meanwhile."""
        return 0.0 if self._computer is None else self._computer.people_seconds

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one call; only cancelling raises, as :class:`CallInterrupted` where it can."""
        return (await self._step(call)).result

    async def outcome(self, call: ToolCall) -> ToolOutcome:
        """Run one call for a caller that has no conversation here."""
        return (await self._step(call)).outcome

    async def _step(self, call: ToolCall) -> CallResult:
        step = await self._begin(call)
        try:
            ran = await self._run(call)
        except asyncio.CancelledError as cancelled:
            known = await self._stopped(call)
            cut = self._hidden(known or ToolOutcome(error="interrupted before it gave a result"))
            ran = CallResult(cut, _result(call, cut))
            await self._end(call, step, ran, "interrupted")
            if known is None:
                raise
            raise CallInterrupted(ran.result) from cancelled
        ended = await self._end(call, step, ran, "failed" if ran.outcome.is_error else "done")
        if self._recording is not None and call.toolset is None:
            await self._recording.note(_note(ended))
            await self._illustrate(self._recording, step)
        return ran

    async def _illustrate(self, recording: TurnRecording, step_id: str) -> None:
        """Give a step that showed the model nothing a picture of what the screen shows now."""
        if self._computer is None or not recording.started:
            return
        try:
            picture = await self._computer.glance()
        except (StoreError, OSError) as error:
            log.warning("a step has no picture: %s", error)
            return
        if picture is None:
            return
        file_id = picture.file_id

        async def work(session: AsyncSession) -> StepView:
            return steps.view(await steps.illustrate(session, step_id, file_id))

        view = await self._book.store.write(work)
        self._book.hub.publish("step", self._chat_id, view.to_json())

    async def _run(self, call: ToolCall) -> CallResult:
        try:
            # Before any tool, not only the computer's: a command may open the first window.
            if self._recording is not None:
                await self._recording.ensure()
            if call.toolset is not None and self._computer is not None:
                return await self._act(self._computer, call)
            outcome = await self._use(call)
        except (ChatError, StoreError, MachineRefused, MachineUnavailable) as error:
            outcome = ToolOutcome(error=str(error))
        except Exception as error:
            log.exception("the tool %s failed", call.name)
            outcome = ToolOutcome(error=f"{call.name} failed: {error}")
        outcome = self._hidden(outcome)
        return CallResult(outcome, _result(call, outcome))

    def _hidden(self, outcome: ToolOutcome) -> ToolOutcome:
        hide = self._book.hide
        return ToolOutcome(hidden(outcome.value, hide), outcome.error and hide(outcome.error))

    async def _act(self, computer: Computer, call: ToolCall) -> CallResult:
        done = await computer.act(call)
        told = _hidden_result(done.result, self._book.hide)
        error = done.error and self._book.hide(done.error)
        details = {
            "model_point": done.point,
            "native_point": done.native_point,
            "changed_fraction": done.changed_fraction,
        }
        shown = self._told(call, done)
        return CallResult(ToolOutcome(error=error), told, dict(done.timings), details, shown)

    def _told(self, call: ToolCall, done: ComputerOutcome) -> Json | None:
        if done.error is not None:
            return None
        arguments: Json = hidden(call.arguments, self._book.hide)
        if done.told_text is None or arguments != call.arguments:
            # The mask of a known secret tells less than a count.
            return arguments
        return {**arguments, "text": done.told_text}

    async def _use(self, call: ToolCall) -> ToolOutcome:
        tool = self._tools.get(call.name)
        if tool is None:
            return ToolOutcome(error=f"Tool not found: {call.name}")
        return await tool.call(call.arguments, self._context(call))

    async def _stopped(self, call: ToolCall) -> ToolOutcome | None:
        """Stop what a call has going, if a person wants that; where we end it is found again."""
        tool = self._tools.get(call.name)
        if call.toolset is not None or not isinstance(tool, Interruptible):
            return None
        if (await self._book.view(self._chat_id)).state != ChatState.INTERRUPTING:
            return None
        return await tool.interrupted(call.arguments, self._context(call))

    def _context(self, call: ToolCall) -> ToolContext:
        return ToolContext(self._chat_id, call.id, LazyMachine(self._find_machine, call.id))

    async def _begin(self, call: ToolCall) -> str:
        arguments: Json = hidden(call.arguments, self._book.hide)
        if call.toolset and arguments == call.arguments:
            arguments = withheld(call.name, arguments)

        async def work(session: AsyncSession) -> StepView:
            now = self._book.now()
            chat = await chats.get(session, self._chat_id)
            moves.bump_version(chat, now)
            begun = await steps.begin(
                session,
                chat,
                tool_call_id=call.id,
                tool=call.toolset or call.name,
                title=step_title(call.name, arguments),
                action=call.name if call.toolset else None,
                arguments=arguments,
                now=now,
            )
            return steps.view(begun)

        view = await self._book.store.write(work)
        self._book.hub.publish("step", self._chat_id, view.to_json())
        return view.id

    async def _end(self, call: ToolCall, step_id: str, ran: CallResult, status: str) -> StepView:
        pictures = [b.file_id for b in ran.result.content if isinstance(b, Image)]

        async def work(session: AsyncSession) -> StepView:
            now = self._book.now()
            ended = steps.StepEnd(
                status,
                result_to_json(ran.result),
                now,
                ran.outcome.error,
                ran.timings,
                ran.details,
                pictures[-1] if pictures else None,
                None if ran.told is None else step_title(call.name, ran.told),
                ran.told,
            )
            moves.bump_version(await chats.get(session, self._chat_id), now)
            return steps.view(await steps.end(session, step_id, ended))

        view = await self._book.store.write(work)
        self._book.hub.publish("step", self._chat_id, view.to_json())
        return view


def hidden(value: Any, hide: Callable[[str], str]) -> Any:
    """Return a JSON value with all its texts as ``hide`` lets them be read."""
    match value:
        case str():
            return hide(value)
        case list() | tuple():
            return [hidden(one, hide) for one in value]
        case dict():
            return {hide(key): hidden(one, hide) for key, one in value.items()}
        case _:
            return value


def _hidden_result(result: ToolResult, hide: Callable[[str], str]) -> ToolResult:
    content = tuple(
        replace(block, text=hide(block.text)) if isinstance(block, Text) else block
        for block in result.content
    )
    return replace(result, content=content)


def read_outcome(result: ToolResult) -> ToolOutcome:
    """Return what a stored result told a caller that has no conversation here."""
    said = "".join(block.text for block in result.content if isinstance(block, Text))
    return ToolOutcome(error=said) if result.is_error else ToolOutcome(json.loads(said))


def _result(call: ToolCall, outcome: ToolOutcome) -> ToolResult:
    said = outcome.error or json.dumps(outcome.value, ensure_ascii=False)
    return ToolResult(call.id, (Text(said),), outcome.is_error, call.toolset)


def _note(step: StepView) -> Json:
    return {
        "tool_call_id": step.tool_call_id,
        "chat_id": step.chat_id,
        "tool": step.tool[:_LONGEST_NAME],
        "title": step.title,
        "started": step.started_at,
        "ended": step.ended_at,
        "error": step.error and step.error[:_LONGEST_ERROR],
    }
