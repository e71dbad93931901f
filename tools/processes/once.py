"""Run what a tool call asks for once, and give every repetition of the call the same answer."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

from .calls import CallTable, Key
from .errors import CallRefused, OutcomeUnknown, ProcessError

CLOCK_SLACK = 2.0
"""Seconds by which the age of a call and our own may be measured differently."""

T = TypeVar("T")
Answer = tuple[int, dict[str, Any]]
"""HTTP status and body."""


class Once:
    """What tool calls have started here, each as a task that no caller can cancel."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._opened = clock()
        self._table: CallTable[asyncio.Task[Any]] = CallTable()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run(
        self,
        key: Key,
        digest: str,
        act: Callable[[], Coroutine[Any, Any, T]],
        age_ms: int = 0,
    ) -> tuple[T, bool]:
        """Return what ``act`` gave, and whether it was this request that began it.

        ``age_ms`` is how long ago the call was first sent, 0 if that is now.

        Raises:
            CallRefused: If the call must not begin, or began with another ``digest``.
            OutcomeUnknown: If ``act`` broke off, so that nobody knows how far it came.
        """
        now = self._clock()
        uptime = now - self._opened
        if age_ms and not self._table.knows(key, now) and uptime - CLOCK_SLACK <= age_ms / 1000:
            raise CallRefused(
                "agent_started_after_tool_call",
                "The machine was restarted after the tool call was first sent: it may have run.",
            )
        task, fresh = self._table.run(key, digest, now, lambda: self.begin(act))
        try:
            return cast(T, await asyncio.shield(task)), fresh
        except ProcessError:
            raise
        except Exception as error:
            if fresh:
                raise
            raise OutcomeUnknown from error

    def begin(self, act: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Task[T]:
        """Start something that goes on when its caller is cancelled."""
        task = asyncio.create_task(act())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def cancel(self, key: Key) -> asyncio.Task[Any] | None:
        """Let a call never begin; return the task of one that has."""
        return self._table.cancel(key, self._clock())

    async def settle(self) -> None:
        """Wait until nothing is under way."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
