"""Run what a tool call asks for once, and give every repetition of the call the same answer."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

from .errors import CallRefused, OutcomeUnknown, ToolCallError
from .identity import Identity, Newest
from .journal import CallJournal, Past
from .table import CallTable, Key

CLOCK_SLACK = 2.0
"""Seconds by which the age of a call and our own may be measured differently."""

T = TypeVar("T")
Answer = tuple[int, dict[str, Any]]
"""HTTP status and body."""


class OncePerCallDetached:
    """What tool calls have started here, each as a task that no caller can cancel."""

    def __init__(self, clock: Callable[[], float], journal: CallJournal | None = None) -> None:
        """Begin with what ``journal`` holds of an earlier service; without one with nothing."""
        self._clock = clock
        self._journal = journal
        if journal is not None:
            journal.open()
        self._opened = clock()
        self._table: CallTable[asyncio.Task[Any]] = CallTable()
        self._newest = Newest()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run(
        self,
        call: Identity,
        digest: str,
        act: Callable[[], Coroutine[Any, Any, T]],
    ) -> tuple[T, bool]:
        """Return what ``act`` gave, and whether it was this request that began it.

        Raises:
            CallRefused: If the call must not begin, or began with another ``digest``.
            OutcomeUnknown: If ``act`` broke off, so that nobody knows how far it came.
        """
        key, now = call.key, self._clock()
        self._newest.admit(call)
        if not self._table.knows(key, now) and (past := self._past(key)) is not None:
            return cast(T, _repeated(past, digest)), False
        self._check_age(call, now)
        task, fresh = self._table.run(key, digest, now, lambda: self._noted(key, digest, act))
        if fresh:
            return cast(T, await asyncio.shield(task)), True
        return cast(T, await self.outcome(task)), False

    async def outcome(self, task: asyncio.Task[Any]) -> Any:
        """Return what came of a call that another request began.

        Raises:
            OutcomeUnknown: If it broke off.
        """
        try:
            return await asyncio.shield(task)
        except ToolCallError:
            raise
        except Exception as error:
            raise OutcomeUnknown from error

    def begin(self, act: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Task[T]:
        """Start something that goes on when its caller is cancelled."""
        task = asyncio.create_task(act())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _past(self, key: Key) -> Past | None:
        return self._journal.past.get(key) if self._journal is not None else None

    def _noted(
        self, key: Key, digest: str, act: Callable[[], Coroutine[Any, Any, T]]
    ) -> asyncio.Task[T]:
        journal = self._journal
        if journal is None:
            return self.begin(act)
        journal.began(key, digest)

        async def acting() -> T:
            result = await act()
            if isinstance(result, tuple):
                journal.answered(key, result)
            return result

        return self.begin(acting)

    def cancel(self, call: Identity) -> asyncio.Task[Any] | Answer | None:
        """Let a call never begin; return the task of one that has, or an earlier service's answer.

        Raises:
            CallRefused: If an earlier service may have run it.
        """
        key, now = call.key, self._clock()
        self._newest.admit(call)
        if not self._table.knows(key, now) and (past := self._past(key)) is not None:
            return _told(past)
        self._check_age(call, now)
        return self._table.cancel(key, now)

    def _check_age(self, call: Identity, now: float) -> None:
        younger = now - self._opened - CLOCK_SLACK <= call.age_ms / 1000
        if call.age_ms and younger and not self._table.knows(call.key, now):
            raise CallRefused(
                "agent_started_after_tool_call",
                "The machine was restarted after the tool call was first sent: it may have run.",
            )

    async def settle(self) -> None:
        """Wait until nothing is under way."""
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _repeated(past: Past, digest: str) -> Answer:
    if past.digest != digest:
        raise CallRefused(
            "input_mismatch", "The tool call's id was used before with different input."
        )
    return _told(past)


def _told(past: Past) -> Answer:
    if past.answer is None:
        raise CallRefused(
            "outcome_unknown",
            "The machine was restarted after the tool call began: what came of it is not known.",
        )
    return past.answer
