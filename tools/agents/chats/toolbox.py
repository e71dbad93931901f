"""The tools of one chat: executes each call and records it as a step.

The step is written as running before the tool is called, and with its result afterwards. A step
that is still running at the next start of the program marks a call that a crash cut off.

The values that were given to the chat are masked at every way out: in the arguments and the result
of the step, in the outcome for the caller, and in what the model reads. Other values are not, as a
mask would reveal them to the chat; only the recorder gets a step without any value. The text that
an agent types is withheld from the step until its end, when the desktop has reported whether it
went into a password field.
"""

import asyncio
import errno
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from deskhand.tools.agents.approvals.gate import CallGate, GateDecision
from deskhand.tools.agents.approvals.scene import DesktopScene
from deskhand.tools.agents.chat_recordings.turn_recording import TurnRecording
from deskhand.tools.agents.chat_repository.joined_writes import JoinedWrites
from deskhand.tools.agents.chat_repository.repository import ChatRepository
from deskhand.tools.agents.costs.step_times import ACT
from deskhand.tools.agents.desktops.lazy_machine import LazyMachine
from deskhand.tools.agents.desktops.ports import DesktopMachine
from deskhand.tools.agents.loop.interruption import CallInterrupted, CallSuspended
from deskhand.tools.agents.loop.reply_calls import COMPUTER
from deskhand.tools.agents.providers.browser_tool import as_function
from deskhand.tools.agents.providers.port import RequestFigures
from deskhand.tools.conversation.conversation import ToolCall, ToolResult
from deskhand.tools.conversation.errors import ChatError
from deskhand.tools.conversation.states import ChatState, StateEvent
from deskhand.tools.kit.computer import ComputerOutcome
from deskhand.tools.kit.support.call_check import refusal_of
from deskhand.tools.kit.support.call_result import CallResult
from deskhand.tools.kit.support.human_control import HumanControlWaits, report_after
from deskhand.tools.kit.support.spec import (
    Interruptible,
    MachineRefused,
    MachineUnavailable,
    Tool,
    ToolContext,
    ToolOutcome,
    ToolSpec,
    no_wait,
)
from deskhand.tools.kit.support.untrusted import marked
from deskhand.tools.secrets.chat_secrets import ChatMask
from deskhand.tools.secrets.masking import masked_json
from deskhand.tools.store.database import uncancelled
from deskhand.tools.store.errors import DiskLow, StoreError, StoreUnavailable
from deskhand.tools.store.faults.health import current_patience, patience

from .prompt_head import PromptHead
from .step_records import StepRecords, hidden_result, recorder_step
from .transcript import AskingCall
from .workplace import DESKTOP_GONE, DESKTOP_LOST, Computer, FindLost, Workplace

log = logging.getLogger(__name__)
Json = dict[str, Any]


class ChatToolbox:
    """The tools that one chat may call."""

    def __init__(
        self,
        repository: ChatRepository,
        chat_id: str,
        tools: Mapping[str, Tool],
        find_machine: Callable[[], Awaitable[DesktopMachine]],
        *,
        mask: ChatMask,
        head: PromptHead | None = None,
        workplace: Workplace | None = None,
        replace_lost: FindLost | None = None,
        control_waits: HumanControlWaits | None = None,
        gate: CallGate | None = None,
        workdir: str = "",
        writes: JoinedWrites | None = None,
    ) -> None:
        """Take a chat's tools, and the ``head`` of its prompts, which lists those that it sees.

        With ``control_waits`` calls wait for the end of a person's control instead of failing.
        """
        self._repository = repository
        self._chat_id = chat_id
        self._tools = tools
        self._mask = mask
        self._steps = StepRecords(repository, chat_id, tools, mask, writes, control_waits)
        self._gate = gate
        self._workdir = workdir
        self._head = head
        self._find_machine = find_machine
        self._computer = workplace.computer if workplace else None
        self._recording = workplace.recording if workplace else None
        self._replace_lost = replace_lost
        self._control_waits = control_waits
        self._seconds = 0.0 if control_waits is None else control_waits.seconds
        self._people_seconds_before = 0.0
        """Of the computer tools of desktops that were lost."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Descriptions of the tools for a model."""
        return self.current_specs if self._head is None else self._head.tools

    @property
    def current_specs(self) -> tuple[ToolSpec, ...]:
        """Descriptions of the tools as they are now, which the next checkpoint adopts."""
        return tuple(tool.spec for tool in self._tools.values())

    @property
    def computer(self) -> bool:
        """True if the provider's computer tool is served."""
        return self._computer is not None

    @property
    def people_seconds(self) -> float:
        """Seconds for which people were in control of the desktop during the calls."""
        if self._computer is not None:
            return self._people_seconds_before + self._computer.people_seconds
        return 0.0 if self._control_waits is None else self._control_waits.seconds - self._seconds

    async def call(
        self, call: ToolCall, *, picture: bool = True, request: RequestFigures | None = None
    ) -> ToolResult:
        """Run one call; nothing but cancellation raises.

        ``request`` is the request to the model that led to this call, which its step records.
        Where the result of a cancelled call is known, :class:`CallInterrupted` carries it.
        """
        try:
            result = (await self._step(call, picture, request)).result
        except CallInterrupted as cut:
            raise CallInterrupted(self._marked(call, cut.result)) from cut
        return self._marked(call, result)

    async def resume(self, asking: Sequence[AskingCall], *, is_same: bool) -> None:
        """Run the calls again that waited for a person when the program ended.

        Their results are stored with their steps, each at once. ``is_same`` if the desktop is that
        of then: an approval is given for a call on that desktop. Other questions are withdrawn.
        """
        kept = [one for one in asking if is_same or one.question.kind == "human"]
        asks = (await self._repository.view(self._chat_id)).state == ChatState.REQUIRES_ACTION
        if asks and not any(one.question.is_open for one in kept):
            generation = self._repository.generation_of(self._chat_id)
            await self._repository.move(self._chat_id, StateEvent.ANSWER, generation=generation)
        for one in kept:
            await self._step_begun(one.call, one.step_id, True, None, continued=True)

    def _marked(self, call: ToolCall, result: ToolResult) -> ToolResult:
        # The step has the result without a mark, for callers outside of the conversation.
        marks = frozenset() if self._head is None else self._head.explained_marks
        return marked(result, call.toolset or call.name, marks)

    async def outcome(self, call: ToolCall) -> ToolOutcome:
        """Run one call for a caller outside of any conversation."""
        return (await self._step(call)).outcome

    async def _step(
        self, call: ToolCall, picture: bool = True, request: RequestFigures | None = None
    ) -> CallResult:
        step = await self._begun(call)
        # From here on the result must not be lost, also for a caller outside of a turn.
        with patience(current_patience() or self._repository.waits.patience(self._chat_id)):
            return await self._step_begun(call, step, picture, request)

    async def _step_begun(
        self,
        call: ToolCall,
        step: str,
        picture: bool,
        request: RequestFigures | None,
        *,
        continued: bool = False,
    ) -> CallResult:
        try:
            call_result = await self._run(call, step, picture, continued)
            call_result = self._with_details(call_result, call, request)
        except asyncio.CancelledError as cancelled:
            try:
                if await uncancelled(self._continues(step)):
                    raise CallSuspended from cancelled
                known = await uncancelled(self._end_stopped(call, step, request))
            except StoreUnavailable as error:
                # The program ends while the database cannot be used. The next start answers the
                # call.
                log.warning("an interrupted step stays open: %s", error)
                raise cancelled from None
            if known is None:
                raise
            raise CallInterrupted(known) from cancelled
        # The client of a call from outside may hang up while the database cannot be written.
        ended = await uncancelled(self._steps.end(call, step, call_result, request=request))
        # The recorder observes computer actions itself; other calls have to be reported to it.
        if self._recording is not None and call.toolset is None:
            await self._recording.add_step(
                masked_json(recorder_step(ended), self._mask.hide_recorded)
            )
        own = call_result.outcome.pictures
        plain = call.toolset != COMPUTER or not picture
        if self._recording is not None and not own and plain:
            await self._illustrate(self._recording, step)
        return call_result

    def _with_details(
        self, result: CallResult, call: ToolCall, request: RequestFigures | None
    ) -> CallResult:
        details = dict(result.details)
        if request is not None and request.usage.dropped_thinking:
            details["dropped_thinking"] = request.usage.dropped_thinking
        if call.reason:
            details["reason"] = self._mask.hide(call.reason)
        return replace(result, details=details)

    async def _begun(self, call: ToolCall) -> str:
        """Write the step; if the caller is cancelled meanwhile, end it."""
        beginning = asyncio.create_task(self._steps.begin(call))
        try:
            return await uncancelled(beginning)
        except asyncio.CancelledError:
            if not beginning.cancelled() and beginning.exception() is None:
                await uncancelled(self._end_stopped(call, beginning.result()))
            raise

    async def _continues(self, step: str) -> bool:
        """Return whether the next start of the program runs the call again."""
        question = None if self._gate is None else await self._gate.of_step(step)
        if question is None or not question.may_continue:
            return False
        # An interruption withdraws an open question; one that was answered before stays.
        return (await self._repository.view(self._chat_id)).state != ChatState.INTERRUPTING

    async def _end_stopped(
        self, call: ToolCall, step: str, request: RequestFigures | None = None
    ) -> ToolResult | None:
        """End the step of an interrupted call; return its result if it is known."""
        known = await self._stopped(call)
        cut = self._hidden(known or ToolOutcome(error="interrupted before it gave a result"))
        call_result = CallResult.of(call, cut)
        # The step must not stay "running": the next start would take it for one that a crash cut
        # off.
        await self._steps.end(call, step, call_result, "interrupted", request=request)
        return None if known is None else call_result.result

    async def _illustrate(self, recording: TurnRecording, step_id: str) -> None:
        """Add a screenshot to a step whose tool returned none, for the people who watch the run."""
        if self._computer is None or not recording.started:
            return
        try:
            picture = await self._computer.glance()
        except (StoreError, OSError) as error:
            log.warning("a step has no picture: %s", error)
            return
        if picture is not None:
            await self._steps.illustrate(step_id, picture.file_id)

    async def _run(self, call: ToolCall, step: str, picture: bool, continued: bool) -> CallResult:
        try:
            # Planned for a screen and for files that do not exist any more.
            if await self._replaced(failed=False):
                return CallResult.of(call, ToolOutcome(error=f"Not run. {DESKTOP_LOST}"))
            result = await self._run_once(call, step, picture, continued)
            failure = result.failure
            if failure is not None and await self._replaced(failed=True):
                return CallResult.of(call, ToolOutcome(error=f"{failure} {DESKTOP_LOST}"))
        except (ChatError, MachineRefused, MachineUnavailable) as error:
            return CallResult.of(call, ToolOutcome(error=f"{DESKTOP_GONE} {error}"))
        return result

    async def _replaced(self, *, failed: bool) -> bool:
        """Take a new desktop if the chat's one was lost; return whether it was."""
        if self._replace_lost is None:
            return False
        workplace = await self._replace_lost(failed=failed)
        if workplace is None:
            return False
        self._people_seconds_before = self.people_seconds
        self._computer, self._recording = workplace.computer, workplace.recording
        return True

    async def _run_once(
        self, call: ToolCall, step: str, picture: bool, continued: bool
    ) -> CallResult:
        decision = GateDecision()
        began: float | None = None
        called = as_function(call)
        if wrong := refusal_of(called, self._tools.get(called.name)):
            return CallResult.of(call, self._hidden(ToolOutcome(error=wrong)))
        try:
            # Before every tool, not only the computer's: a command may open the first window.
            if self._recording is not None:
                await self._recording.ensure()
            decision = await self._decided(call, step, continued)
            if decision.refusal is not None:
                outcome = ToolOutcome(error=decision.refusal)
            elif call.toolset == COMPUTER and self._computer is not None:
                return _acknowledged(await self._act(self._computer, call, picture), decision)
            else:
                began = self._repository.clock()
                outcome = await self._use(call, step)
        except DiskLow as error:
            outcome = ToolOutcome(error=str(error), no_room=True)
        except (ChatError, StoreError, MachineRefused, MachineUnavailable) as error:
            outcome = ToolOutcome.of_error(error)
        except Exception as error:
            log.exception("the tool %s failed", call.name)
            full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
            outcome = ToolOutcome(error=f"{call.name} failed: {error}", no_room=full)
        result = CallResult.of(call, self._hidden(outcome))
        if call.toolset is not None and not outcome.is_error:
            shown = self._shown_arguments(call, outcome)
            result = replace(result, final_arguments=shown)
        acted = 0.0 if began is None else self._repository.clock() - began
        return _acknowledged(replace(result, timings={ACT: 1000 * acted}), decision)

    async def _decided(self, call: ToolCall, step: str, continued: bool) -> GateDecision:
        if self._gate is None:
            return GateDecision()
        began, hide = self._repository.clock(), self._mask.hide
        scene = DesktopScene(
            self._find_machine, self._computer, self._control_waits, self._steps.commit
        )
        decision = await self._gate.decide(call, step, scene, hide, continued=continued)
        if decision.asked:
            self._steps.add_wait(self._repository.clock() - began)
        return decision

    def _hidden(self, outcome: ToolOutcome) -> ToolOutcome:
        hide = self._mask.hide_result
        error = outcome.error and hide(outcome.error)
        return replace(outcome, value=masked_json(outcome.value, hide), error=error)

    async def _act(self, computer: Computer, call: ToolCall, picture: bool) -> CallResult:
        done = await computer.act(call, picture=picture)
        redacted = hidden_result(done.result, self._mask.hide_result)
        error = done.error and self._mask.hide(done.error)
        details = {
            "model_point": done.point,
            "native_point": done.native_point,
            "changed_fraction": done.changed_fraction,
        }
        shown = self._final_arguments(call, done)
        outcome = ToolOutcome(error=error, targets=done.targets)
        return CallResult(outcome, redacted, dict(done.timings), details, shown)

    def _final_arguments(self, call: ToolCall, done: ComputerOutcome) -> Json | None:
        if done.error is not None:
            return None
        arguments: Json = masked_json(call.arguments, self._mask.hide)
        if done.told_text is None or arguments != call.arguments:
            # A known secret is replaced by its mask, which reveals less than a length would.
            return arguments
        return {**arguments, "text": done.told_text}

    def _shown_arguments(self, call: ToolCall, outcome: ToolOutcome) -> Json:
        """Return the arguments of a call of the browser toolset, as people may see them."""
        shown: Json = masked_json(call.arguments, self._mask.hide)
        if shown != call.arguments:
            return shown
        told = {"text": outcome.value.get("told_text"), "value": outcome.value.get("told_value")}
        return shown | {name: text for name, text in told.items() if text is not None}

    async def _use(self, call: ToolCall, step: str) -> ToolOutcome:
        called = as_function(call)
        tool = self._tools.get(called.name)
        if tool is None:
            return ToolOutcome(error=f"Tool not found: {called.name}")
        return await tool.call(called.arguments, self._context(call, step))

    async def _stopped(self, call: ToolCall) -> ToolOutcome | None:
        """Stop what an interrupted call has started and return its outcome, if it is known.

        At the end of the program nothing is stopped: the next start finds the process again.
        """
        tool = self._tools.get(call.name)
        if call.toolset is not None or not isinstance(tool, Interruptible):
            return None
        # Any other state means that the program ends and the turn will be resumed.
        if (await self._repository.view(self._chat_id)).state != ChatState.INTERRUPTING:
            return None
        return await tool.interrupted(call.arguments, self._context(call))

    def _context(self, call: ToolCall, step: str = "") -> ToolContext:
        machine = LazyMachine(self._find_machine, call.id)
        after_person = no_wait
        if self._control_waits is not None:
            # A computer tool reports the session again, because the screen has changed.
            wait = self._control_waits.ended if self._computer else self._control_waits.awaited
            after_person = partial(report_after, wait, machine)
        return ToolContext(
            *(self._chat_id, call.id, machine, after_person, step),
            hide=self._mask.hide,
            workdir=self._workdir,
        )


def _acknowledged(done: CallResult, decision: GateDecision) -> CallResult:
    return replace(done, result=replace(done.result, acknowledged=decision.acknowledged))
