"""One turn of an agent: ask the model, run its tools, until the model or a limit ends the turn.

    ask ──reply with calls──> run the calls ──results──> ask ...
     │
     ├── report tool           the turn ends with that report
     ├── reply without calls   the turn ends; its text is assumed to report success
     ├── cut at a length limit ask again, ``LONGEST_CUT_ROW`` times at most
     ├── limit of the provider a checkpoint makes the history shorter (:mod:`.turn_prompts`)
     └── refusal, spent budget, model error, stuck: ends with an error kind

Invariants:

- Between two requests to the model every call in the transcript has a result. Whatever ends a run
  (failure, cancellation) first answers the open calls; what a crash left open is answered when the
  next turn starts.
- A failing tool never ends the turn: its error is a result for the model.
- The calls of a reply run as :mod:`~deskhand.tools.agents.loop.reply_calls` orders them.
- Time in which a person controls the desktop is not charged to the budget.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from deskhand.tools.agents.checkpoints.checkpoint import Checkpoint
from deskhand.tools.agents.costs.cost import priced
from deskhand.tools.agents.providers.browser_tool import BROWSER
from deskhand.tools.agents.providers.errors import LimitReached, ModelError
from deskhand.tools.agents.providers.limits import window_exceeded
from deskhand.tools.agents.providers.model_table import model_facts
from deskhand.tools.agents.providers.port import Model, ModelReply, Prompt, RequestFigures, Usage
from deskhand.tools.conversation.conversation import Block, Message, Text, ToolCall

from . import history
from .budget import TurnBudget
from .checked_reply import CUT, WINDOW_EXCEEDED, checked
from .interruption import CallSuspended
from .reply_calls import ReplyCalls, Toolbox
from .reply_work import ReplyWork
from .report import Outcome, Report, Source, assumed_report, text_of
from .stuck_detector import STUCK, StuckDetector
from .turn_prompts import TurnPrompts

log = logging.getLogger(__name__)

LONGEST_CUT_ROW = 3
"""Replies in a row that may hit the length limit before the turn is given up."""

UNCONFIRMED = "No person confirmed an action that the model's provider wants confirmed."
GO_ON = "Your reply was interrupted. Go on from there."
CUT_SHORT = "Your reply was cut off at the length limit. Go on from there, in smaller portions."


class Transcript(Protocol):
    """The stored messages of the chat."""

    async def messages(self) -> tuple[Message, ...]:
        """Return all messages so far, oldest first."""

    async def append(
        self, message: Message, usage: Usage | None = None, report: Report | None = None
    ) -> None:
        """Store a message, with the tokens that the model used for it.

        ``report`` is the result of the turn if it ends with this message: a process that is killed
        before it ends the turn leaves it, and the model is not asked again.
        """

    async def take_messages(self) -> None:
        """Append what people have sent for the time after the current step."""

    async def checkpoint(self) -> Checkpoint | None:
        """Return the newest checkpoint."""

    async def begin_checkpoint(self, reason: str) -> str:
        """Begin the step of a checkpoint; return its id."""

    async def end_checkpoint(
        self, step_id: str, made: Checkpoint | None, text: str, usage: Usage
    ) -> None:
        """End the step, and store the checkpoint with it; ``None`` if it failed for ``text``."""


@dataclass(frozen=True)
class LoopSettings:
    """Parameters of one turn."""

    model: str
    system: str
    budget: TurnBudget = field(default_factory=TurnBudget)
    max_tokens: int = 32000
    kept_pictures: int = history.KEPT_PICTURES
    """Newest pictures that a model is sent whose thinking is not bound to its prefix."""
    conversation: str = ""
    """Id of the chat; its requests share a cache, and the chat's part of the account."""
    effort: str | None = None
    """Effort of the model, ``None`` for that of the account."""
    report: bool = True
    """True to offer the report tool, for an agent that another one waits for."""


@dataclass(frozen=True)
class TurnEnd:
    """The end of a turn, with its report and its costs."""

    outcome: Outcome
    report: str
    outcome_source: Source
    error: str | None
    error_kind: str | None
    """``budget``, ``refusal``, ``max_tokens``, ``context_full``, or a model error's kind."""
    steps: int
    """Tool calls that were run."""
    usage: Usage
    evidence: tuple[int | str, ...] = ()


class _Ended(Exception):
    """The turn must end now; caught in :func:`run_turn`."""

    def __init__(self, kind: str, error: str, outcome: Outcome = "failed") -> None:
        super().__init__(kind, error)
        self.kind = kind
        self.error = error
        self.outcome: Outcome = outcome


async def run_turn(
    transcript: Transcript,
    model: Model,
    toolbox: Toolbox,
    settings: LoopSettings,
    clock: Callable[[], float],
    on_text: Callable[[str], None] = lambda _: None,
    work: ReplyWork | None = None,
) -> TurnEnd:
    """Run until the model reports, stops, fails, or the budget is used up.

    ``clock`` counts seconds; ``on_text`` is called with the whole text of a reply so far; ``work``
    shows whether a reply is being worked on. Cancelling stores the partial reply and answers the
    open calls before it propagates.
    """
    work = work or ReplyWork()
    turn = _Turn(transcript, model, toolbox, settings, clock, on_text, work)
    try:
        report = await turn.run()
    except _Ended as end:
        # The newest text is the best report of a turn that was ended: its parent receives the
        # findings so far.
        return turn.end(Report(turn.last_text, end.outcome, "assumed"), end.error, end.kind)
    except ModelError as error:
        return turn.end(Report(turn.last_text, "failed", "assumed"), str(error), error.kind)
    finally:
        work.end()
    return turn.end(report)


class _Turn:
    def __init__(
        self,
        transcript: Transcript,
        model: Model,
        toolbox: Toolbox,
        settings: LoopSettings,
        clock: Callable[[], float],
        on_text: Callable[[str], None],
        work: ReplyWork,
    ) -> None:
        self._transcript = transcript
        self._model = model
        self._toolbox = toolbox
        self._settings = settings
        self._clock = clock
        self._on_text = on_text
        self._work = work
        self._began = clock()
        self._people_seconds = 0.0
        self._excluded = 0.0
        self._steps = 0
        self._replies = Usage()
        self._cut_row = 0
        self._stuck_detector = StuckDetector()
        self._stuck = False
        self._unconfirmed = False
        self._problems: tuple[str, ...] = ()
        self._facts = model_facts(settings.model)
        self._prompts = TurnPrompts(
            transcript,
            model,
            toolbox,
            self._facts,
            Prompt(
                *(settings.system, (), (), toolbox.computer, settings.model, settings.max_tokens),
                conversation=settings.conversation,
                effort=settings.effort,
            ),
            None if self._facts.bound else settings.kept_pictures,
            report=settings.report,
        )
        self.last_text = ""
        """The newest text of the model in this turn: the report where it makes none."""

    async def run(self) -> Report:
        await self._begin()
        while True:
            # Checked between requests only: a reply that has been paid for is used, and its calls
            # are run.
            self._check_budget()
            self._work.end()
            reply, report = await self._ask()
            if report is not None:
                return report
            calls = [b for b in reply.content if isinstance(b, ToolCall)]
            if calls:
                report = await self._run_calls(calls, RequestFigures(reply.usage, reply.times))
                if report is not None:
                    return report
                if self._unconfirmed:
                    raise _Ended("refusal", UNCONFIRMED, "blocked")
            elif self._problems:
                texts = tuple(Text(problem) for problem in self._problems)
                await self._transcript.append(Message("user", texts))
                self._stuck = self._stuck_detector.record_problems(self._problems)
            if self._stuck:
                # The kind is stored with the turn, so that it keeps its name.
                raise _Ended("watchdog", STUCK)
            # After ``pause_turn`` the provider continues by itself; a cut reply has to be resumed.
            if reply.stop_reason in CUT:
                await self._transcript.append(Message("user", (Text(CUT_SHORT),)))
            if reply.stop_reason == WINDOW_EXCEEDED:
                await self._prompts.shorten(window_exceeded(self._facts))

    def end(self, report: Report, error: str | None = None, kind: str | None = None) -> TurnEnd:
        return TurnEnd(
            report.outcome,
            report.summary,
            report.source,
            error,
            kind,
            self._steps,
            self._usage(),
            report.evidence,
        )

    async def _begin(self) -> None:
        """Complete what an earlier process left: open calls, or a reply that was cut off."""
        messages = await self._transcript.messages()
        left = history.open_calls(messages)
        if left:
            results = tuple(history.interrupted(call) for call in left)
            await self._transcript.append(Message("user", results))
        # Newer models refuse a conversation that ends with words of their own.
        elif messages and messages[-1].role == "assistant":
            await self._transcript.append(Message("user", (Text(GO_ON),)))

    def _check_budget(self) -> None:
        budget = self._settings.budget
        spent = budget.spent(self._steps, self._seconds(), self._usage())
        if spent is not None:
            raise _Ended("budget", budget.message(spent), "partly")

    def _usage(self) -> Usage:
        return self._replies + self._prompts.usage

    def _seconds(self) -> float:
        """Return the duration of the turn without the time in which people were in control."""
        passed, people_seconds = self._clock() - self._began, self._toolbox.people_seconds
        # A person may have taken control before the turn began, so that the time reported at its
        # end may exceed the turn: never exclude more than has passed.
        self._excluded += min(people_seconds - self._people_seconds, passed - self._excluded)
        self._people_seconds = people_seconds
        return passed - self._excluded

    async def _ask(self) -> tuple[ModelReply, Report | None]:
        """Return the next reply, and the result of the turn if it ends with this reply."""
        partial = ""

        def on_partial(text: str) -> None:
            nonlocal partial
            partial = text
            self._on_text(text)

        # Between two requests, when every call has its result: here a request will follow.
        await self._transcript.take_messages()
        try:
            reply = await self._fitting(on_partial)
        except asyncio.CancelledError:
            # The partial text was shown to people already: it stays in the conversation.
            if partial.strip():
                await self._transcript.append(Message("assistant", (Text(partial),)))
            raise
        self._work.begin(reply.content)
        reply = replace(reply, usage=priced(reply.usage, self._facts.prices))
        self._replies += reply.usage
        self._prompts.answered(reply)
        # Before the reply is stored: the transcript must not contain a call that is never run.
        browser = any(spec.name == BROWSER for spec in self._toolbox.specs)
        sound = checked(reply, computer=self._toolbox.computer, browser=browser)
        reply, self._problems = sound.reply, sound.problems
        # A call that was left out is work too, so that a budget ends a row of them.
        self._steps += len(sound.problems)
        self.last_text = text_of(reply.content) or self.last_text
        report = self._final(reply)
        # Providers refuse a message without content, as a reply can be after a refusal.
        if reply.content:
            message = Message("assistant", reply.content)
            await self._transcript.append(message, reply.usage, report)
        self._check_stop_reason(reply.stop_reason)
        return reply, report

    def _final(self, reply: ModelReply) -> Report | None:
        """Return the result of a turn that ends with a reply: with one that is whole."""
        calls = any(isinstance(block, ToolCall) for block in reply.content)
        if calls or self._problems or reply.stop_reason in (*CUT, "pause_turn", "refusal"):
            return None
        return assumed_report(reply.content)

    async def _fitting(self, on_partial: Callable[[str], None]) -> ModelReply:
        """Ask, after a checkpoint where a limit of the provider requires one."""
        while True:
            try:
                return await self._model.reply(await self._prompts.next(), on_partial)
            except LimitReached as error:
                await self._prompts.shorten(error)

    def _check_stop_reason(self, reason: str) -> None:
        if reason == "refusal":
            raise _Ended("refusal", "The model declined to go on with this.")
        cut = reason in (*CUT, "pause_turn")
        self._cut_row = self._cut_row + 1 if cut else 0
        if self._cut_row >= LONGEST_CUT_ROW:
            raise _Ended("max_tokens", "The model's replies kept being cut off.")

    async def _run_calls(self, calls: list[ToolCall], request: RequestFigures) -> Report | None:
        running = ReplyCalls(
            calls,
            self._toolbox,
            self._stuck_detector,
            offers_report=self._settings.report,
            request=request,
        )
        suspended = False
        try:
            await running.run()
        except CallSuspended:
            suspended = True
            raise
        finally:
            self._steps += running.steps
            # Also on cancellation: the transcript must not end with calls without results. One
            # message holds all of them: providers expect them together, right after the calls.
            # After a suspended call the next start appends them, the results of steps included.
            if not suspended:
                problems = (Text(problem) for problem in self._problems)
                content: tuple[Block, ...] = (*running.results, *problems)
                await self._transcript.append(Message("user", content), None, running.report)
        self._stuck = running.stuck
        self._unconfirmed = running.unconfirmed and self._facts.ends_unconfirmed
        return running.report
