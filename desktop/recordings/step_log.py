"""Writes down what was done, once it is known how much of it may be told."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from deskhand.desktop.accessibility.password_fields import TYPING
from deskhand.desktop.actions.catalog import ActionRecord
from deskhand.recording.step import Step

from .steps import step_from_action

DOUBT = 0.5
"""Seconds until an application has said to which of its widgets the keys before that went."""


class TypingJudgement(Protocol):
    """Whether password fields have the keyboard; in production the `focus_tracker`."""

    def connected(self) -> bool:
        """Return True while applications report their focused widgets."""

    def password_between(self, start: float, end: float) -> bool:
        """Return True if a password field had the keyboard between two times. Blocks."""


class StepLog:
    """Notes actions as steps; those that type only after a moment, if applications can be heard.

    ``mask`` is what takes known secrets out of a step later: its mask does not tell their length.
    An async context manager; it ends when everything is written.
    """

    def __init__(
        self,
        note: Callable[[Step], None],
        fields: TypingJudgement,
        mask: Callable[[str], str] = str,
        doubt: float = DOUBT,
    ) -> None:
        self._note = note
        self._fields = fields
        self._mask = mask
        self._doubt = doubt
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
        """Note an action; call it on the event loop."""
        heard = self._fields.connected()
        if not heard or not record.text or record.action not in TYPING:
            self._note(step_from_action(record))
            return
        task = asyncio.create_task(self._later(record), name="note")
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def written(self) -> None:
        """Return when all actions until now are noted."""
        await asyncio.gather(*self._open)

    async def _later(self, record: ActionRecord) -> None:
        await asyncio.sleep(self._doubt)
        end = record.ended + self._doubt
        hidden = await asyncio.to_thread(self._fields.password_between, record.started, end)
        secret = self._mask(record.text or "") != record.text
        self._note(step_from_action(record, hidden and not secret))
