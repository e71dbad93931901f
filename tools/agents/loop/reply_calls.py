"""The calls of one reply: order, results, and the report among them.

    calls      execute  execute  click  click  execute  report
    runs       ^ at once ------^  ^ in order -^  ^       ^ ends the turn

- Plain tools that follow each other need no order and run at once; their results have the order of
  the calls. Computer calls run one after the other, because each acts on what the last one showed.
- After a failed computer call the other computer calls of the reply are not run. They were planned
  for a screen that does not exist.
- Calls after a report are not run.
- However the calls end, each of them has a result. A call whose outcome is known at a cancellation
  keeps it.
"""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from deskhand.desktop.errors import BadField
from deskhand.tools.agents.providers.port import RequestFigures
from deskhand.tools.conversation.conversation import Text, ToolCall, ToolResult
from deskhand.tools.kit.support.spec import ToolSpec

from . import history
from .interruption import CallInterrupted, CallSuspended
from .report import REPORT, Report, read_report
from .stuck_detector import StuckDetector

log = logging.getLogger(__name__)

COMPUTER = "computer"
AFTER_FAILURE = "Not run: an earlier computer action of the same reply failed."
AFTER_BROWSER_FAILURE = "Not run: an earlier browser action of the same reply failed."
AFTER_REPORT = "Not run: the report came before it."


class Toolbox(Protocol):
    """The tools that an agent may call."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Descriptions of the tools for the model."""

    @property
    def current_specs(self) -> tuple[ToolSpec, ...]:
        """Descriptions of the tools as they are now, which the next checkpoint adopts."""

    @property
    def computer(self) -> bool:
        """True if calls of the provider's computer tool are served."""

    @property
    def people_seconds(self) -> float:
        """Seconds for which people controlled the desktop; they are not charged to the turn."""

    async def call(
        self, call: ToolCall, *, picture: bool = True, request: RequestFigures | None = None
    ) -> ToolResult:
        """Run one call and record it; failures are returned as results.

        Without ``picture`` an action of the computer is answered in words alone. ``request`` is
        recorded with the call: the request to the model that led to it.
        """


class ReplyCalls:
    """Runs the calls of one reply."""

    def __init__(
        self,
        calls: Sequence[ToolCall],
        toolbox: Toolbox,
        stuck_detector: StuckDetector,
        *,
        offers_report: bool,
        request: RequestFigures | None = None,
    ) -> None:
        """Run nothing yet; ``request``, which led to the calls, is recorded with the first."""
        self._calls = calls
        self._toolbox = toolbox
        self._stuck_detector = stuck_detector
        self._offers_report = offers_report
        self._request = request
        # One picture for the whole reply: each one stays in the history of the chat.
        self._last = max((i for i, one in enumerate(calls) if one.toolset == COMPUTER), default=0)
        self._results: dict[int, ToolResult] = {}
        self.report: Report | None = None
        self.stuck = False
        """True if the agent repeats itself."""
        self.unconfirmed = False
        """True if a call was not run because its safety checks were not acknowledged."""
        self.steps = 0
        """Calls that were begun."""

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The results of all calls in their order; of those without an outcome, that."""
        return tuple(
            self._results.get(index) or history.interrupted(call)
            for index, call in enumerate(self._calls)
        )

    async def run(self) -> None:
        """Run all calls; cancelling cancels those that are running.

        Raises:
            CallSuspended: If a cancelled call is continued by the next start.
        """
        for group in self._groups():
            if len(group) == 1:
                await self._run_one(group[0])
            else:
                await self._run_at_once(group)
            # In the order of the calls, whatever the order of their ends.
            for index in group:
                self._record(index)

    def _groups(self) -> Iterator[list[int]]:
        """Yield the indexes of calls that run at once."""
        group: list[int] = []
        for index, call in enumerate(self._calls):
            if call.toolset is None and not self._is_report(call):
                group.append(index)
                continue
            if group:
                yield group
            group = []
            yield [index]
        if group:
            yield group

    async def _run_at_once(self, group: Sequence[int]) -> None:
        tasks = [asyncio.create_task(self._run_one(index)) for index in group]
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            _raise_of(tasks)
            raise
        _raise_of(tasks)

    async def _run_one(self, index: int) -> None:
        call = self._calls[index]
        if self.report is not None:
            result = history.interrupted(call, AFTER_REPORT)
        # Handled here, so that the report is neither recorded as a step nor counted.
        elif self._is_report(call):
            self.report, result = _reported(call)
        elif call.toolset and (failed := self._failed_toolset()):
            # Both act on the same screen.
            why = AFTER_FAILURE if failed == COMPUTER else AFTER_BROWSER_FAILURE
            result = history.interrupted(call, why)
        else:
            try:
                result = await self._called(index, call)
            # A call whose outcome is known must not get the result that its effect is unknown.
            except CallInterrupted as cut:
                self._results[index] = cut.result
                raise
        self._results[index] = result

    def _failed_toolset(self) -> str:
        """Return the toolset of a call that failed; empty if none has."""
        results = self._results.values()
        return next((one.toolset for one in results if one.toolset and one.is_error), "")

    async def _called(self, index: int, call: ToolCall) -> ToolResult:
        self.steps += 1
        request = None if index else self._request
        try:
            picture = index >= self._last
            result = await self._toolbox.call(call, picture=picture, request=request)
        # A defect in one tool must not end the turn: the model can continue by another way.
        except Exception as error:
            log.warning("the tool %s failed", call.name, exc_info=True)
            text = f"The tool failed unexpectedly: {type(error).__name__}: {error}"
            return ToolResult(call.id, (Text(text),), is_error=True, toolset=call.toolset)
        # Set here whatever the toolbox returns: a provider refuses a result of another call.
        return replace(result, call_id=call.id, toolset=call.toolset)

    def _record(self, index: int) -> None:
        call = self._calls[index]
        if call.checks and not self._results[index].acknowledged:
            self.unconfirmed = True
        if self.report is not None or self._is_report(call):
            return
        # An action without a picture may have changed the screen: its result does not show it.
        if index >= self._last or call.toolset != COMPUTER:
            self.stuck = self._stuck_detector.record(call, self._results[index])

    def _is_report(self, call: ToolCall) -> bool:
        return call.name == REPORT and call.toolset is None and self._offers_report


def _raise_of(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Raise what ended the tasks, if anything; a suspension is the strongest."""
    ends: list[asyncio.CancelledError] = []
    for task in tasks:
        try:
            task.result()
        except asyncio.CancelledError as error:
            ends.append(error)
    suspended = next((end for end in ends if isinstance(end, CallSuspended)), None)
    if ends:
        raise suspended or ends[0]


def _reported(call: ToolCall) -> tuple[Report | None, ToolResult]:
    try:
        report = read_report(call.arguments)
    except BadField as error:
        return None, ToolResult(call.id, (Text(error.sentence),), is_error=True)
    return report, ToolResult(call.id, (Text("Report received."),))
