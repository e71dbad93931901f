"""Step log: passes actions to the recorder as steps, without text from password fields.

An application reports over AT-SPI, with a delay, which widget has the keyboard focus. So an action
that types is written only after ``DELAY``, when the reports about its keys have arrived. All other
actions, and all actions without accessibility reports, are written at once.
"""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from deskhand.desktop.accessibility.password_fields import TYPING
from deskhand.desktop.actions.catalog import ActionRecord
from deskhand.recording.step import Step

from .steps import step_from_action

DELAY = 0.5
"""Seconds within which applications report the focus of the keys before."""


class TypingJudgement(Protocol):
    """Source of the keyboard focus of password fields; in production the `FocusTracker`."""

    def connected(self) -> bool:
        """Return True while applications report their focused widgets."""

    def password_between(self, start: float, end: float) -> bool:
        """Return True if a password field had the keyboard between two times. Blocks."""


class StepLog:
    """Writes actions as steps; an async context manager that ends when all are written.

    ``mask`` is the function with which the recorder removes known secrets. A text that contains
    one is passed on unchanged, because the mask also hides its length.
    """

    def __init__(
        self,
        add_step: Callable[[Step], None],
        fields: TypingJudgement,
        mask: Callable[[str], str] = str,
        delay: float = DELAY,
    ) -> None:
        self._add_step = add_step
        self._fields = fields
        self._mask = mask
        self._delay = delay
        self._open: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.written()

    def write(self, record: ActionRecord) -> None:
        """Write an action; call this on the event loop."""
        heard = self._fields.connected()
        # Without reports, or without text that could be secret, there is nothing to wait for.
        if not heard or not record.text or record.action not in TYPING:
            self._add_step(step_from_action(record))
            return
        task = asyncio.create_task(self._write_later(record), name="note")
        # The event loop keeps only a weak reference to a task.
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def written(self) -> None:
        """Wait until all actions so far are written."""
        await asyncio.gather(*self._open)

    async def _write_later(self, record: ActionRecord) -> None:
        await asyncio.sleep(self._delay)
        end = record.ended + self._delay
        # The query blocks, so it runs in a thread.
        hidden = await asyncio.to_thread(self._fields.password_between, record.started, end)
        secret = self._mask(record.text or "") != record.text
        self._add_step(step_from_action(record, hidden and not secret))
