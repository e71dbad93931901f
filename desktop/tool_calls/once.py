"""Execution of each tool call once, however often its request arrives.

States of a call, by its key (chat and id), for an hour::

    unknown ──run──> running ──> answered
       │                └──────> broken off (began, then raised, was cancelled or killed)
       └──cancel──> canceled

A request finds its call in the table (executions of this service), else in the journal (the file
that outlives the service), else it begins the call.

- Repeat: the request joins the running execution or gets the recorded answer. A call that broke
  off never begins again, because its effect is unknown. Another digest under the same id is
  refused in every state, because one of the two requests must be wrong.
- Cancel: a canceled call never begins. The canceler of a call that has begun gets its task.
- Restart: the journal has a line for each begin and each answer. An answer is returned again; a
  begin without an answer is refused as of unknown outcome.

The policy is what happens when no client waits any more. An action (``detached=False``) moves the
pointer that a person may need, so it is cancelled. It may fail before it begins (full queue), and
may then be tried again. A process start or a change of files (``detached=True``) runs to its end,
because half of it would be worse; its error is its outcome, and a repetition gets it again.
"""

import asyncio
import math
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from .errors import CallRefused, OutcomeUnknown, ToolCallError
from .identity import Identity, Newest
from .journal import Answer, Journal
from .table import KEPT_SECONDS, CallTable, Key

CLOCK_SLACK = 2.0
"""Seconds by which the age of a call and the service's own age may be measured differently."""

T = TypeVar("T")


class Progress:
    """Progress of one execution, which the execution itself reports."""

    def began(self) -> None:
        """Report that the call is about to have an effect."""

    def ended(self, answer: Answer) -> None:
        """Report the answer of the call; a later report replaces it."""


Act = Callable[[Progress], Coroutine[Any, Any, T]]


@dataclass
class _Execution:
    key: Key | None
    task: asyncio.Task[Any]
    waiting: int = 0
    """Requests that wait for the task."""


@dataclass(frozen=True)
class _Recorded(Progress):
    journal: Journal
    key: Key
    digest: str
    generation: int

    def began(self) -> None:
        self.journal.began(self.key, self.digest, self.generation)

    def ended(self, answer: Answer) -> None:
        self.journal.ended(self.key, self.digest, answer, self.generation)


class OncePerCall:
    """Executions of one service's tool calls. Lives in one event loop."""

    def __init__(
        self,
        file: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        detached: bool = False,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """Read the journal in ``file``; without a file, calls are forgotten with the process."""
        self._clock = clock
        self._detached = detached
        self._journal = Journal(file, wall, detached=detached)
        # An action leaves the table when its task is done: from then on the journal has it.
        self._table = CallTable[_Execution](KEPT_SECONDS if detached else math.inf)
        self._newest = Newest()
        self._opened = clock()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run(self, call: Identity | None, digest: str, act: Act[T]) -> tuple[T, bool]:
        """Return the result of ``act``, and True if this request began it.

        A request without a call is always executed, under the same policy.

        Raises:
            CallRefused: If the call must not begin, or began with another ``digest``.
            OutcomeUnknown: If a detached call broke off that another request had begun.
        """
        if call is None:
            return await self._wait(self._begin(None, act(Progress()))), True
        key, now = call.key, self._clock()
        self._newest.admit(call)
        if not self._table.knows(key, now):
            earlier: Any = self._journal.earlier(key, digest)
            if earlier is not None:
                return earlier, False
        self._check_age(call, now)
        progress = _Recorded(self._journal, key, digest, call.generation)
        execution, fresh = self._table.run(
            key, digest, now, lambda: self._begin(key, act(progress))
        )
        if self._detached and not fresh:
            return await self.outcome(execution.task), False
        return await self._wait(execution), fresh

    def generations(self) -> dict[str, int]:
        """Return the highest generation of each chat that earlier services have recorded."""
        return self._journal.generations()

    def knows(self, call: Identity | None) -> bool:
        """Return True if the call is running, or its answer is recorded."""
        if call is None:
            return False
        return self._table.knows(call.key, self._clock()) or self._journal.answered(call.key)

    def check_instance(self, call: Identity | None, sent_to: str, own: str) -> None:
        """Refuse a call that was sent to another instance first and is not recorded here.

        Instance ``own`` cannot know whether the call was executed there. ``sent_to`` is empty if
        the request names no instance.

        Raises:
            CallRefused: If the call may have been executed.
        """
        if sent_to and sent_to != own and not self.knows(call):
            raise CallRefused.unknown("It was sent to another instance of this desktop before.")

    def cancel(self, call: Identity) -> asyncio.Task[Any] | Answer | None:
        """Keep a call from beginning; return the task of one that has, or the recorded answer.

        Raises:
            CallRefused: If an earlier service may have executed it.
        """
        key, now = call.key, self._clock()
        self._newest.admit(call)
        if not self._table.knows(key, now) and (earlier := self._journal.earlier(key)) is not None:
            return earlier
        self._check_age(call, now)
        execution = self._table.cancel(key, now)
        return execution.task if execution is not None else None

    async def outcome(self, task: asyncio.Task[Any]) -> Any:
        """Wait for a task that another request began, and return its result.

        Raises:
            OutcomeUnknown: If it broke off.
        """
        try:
            return await asyncio.shield(task)
        except ToolCallError:
            raise
        except Exception as error:
            raise OutcomeUnknown from error

    async def settle(self) -> None:
        """Wait until no execution is running."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, key: Key | None, work: Coroutine[Any, Any, Any]) -> _Execution:
        execution = _Execution(key, asyncio.create_task(work))
        self._tasks.add(execution.task)
        execution.task.add_done_callback(self._tasks.discard)
        if not self._detached:
            execution.task.add_done_callback(lambda _: self._forget(execution))
        return execution

    async def _wait(self, execution: _Execution) -> Any:
        # The shield keeps the cancellation of one request away from the task, for which others may
        # wait.
        execution.waiting += 1
        try:
            return await asyncio.shield(execution.task)
        finally:
            execution.waiting -= 1
            if not (self._detached or execution.waiting or execution.task.done()):
                # A repetition that arrives now must not join an execution that is being cancelled.
                self._forget(execution)
                execution.task.cancel()
                await asyncio.gather(execution.task, return_exceptions=True)

    def _forget(self, execution: _Execution) -> None:
        if execution.key is not None:
            self._table.forget(execution.key, execution)

    def _check_age(self, call: Identity, now: float) -> None:
        # A call that is older than this service may have been executed by the service before it.
        younger = now - self._opened - CLOCK_SLACK <= call.age_ms / 1000
        if call.age_ms and younger and not self._table.knows(call.key, now):
            raise CallRefused(
                "agent_started_after_tool_call",
                "The machine was restarted after the tool call was first sent: it may have run.",
            )
