"""Notices that wait to be sent to the other control planes."""

import asyncio
from collections.abc import Sequence

from .notices import Notice, payloads

BATCH_SECONDS = 0.03
"""How long notices are collected: one NOTIFY each would halve what the server can write."""


class NoticeQueue:
    """The notices of one control plane; each is kept until it has been sent."""

    def __init__(self, plane: str, seconds: float = BATCH_SECONDS) -> None:
        self._plane = plane
        self._seconds = seconds
        # Without values: a set that keeps the order.
        self._notices: dict[Notice, None] = {}
        self._returned: tuple[Notice, ...] = ()
        self._woken = asyncio.Event()

    def add(self, notice: Notice) -> None:
        """Send a notice soon."""
        # At the end: what was changed again while it was being sent is sent again.
        self._notices.pop(notice, None)
        self._notices[notice] = None
        self._woken.set()

    def wake(self) -> None:
        """Let `waiting` return, also without a notice."""
        self._woken.set()

    async def waiting(self) -> Sequence[str]:
        """Return payloads for all notices once there is one, or `wake` was called.

        Those that were returned before and not sent are returned again.
        """
        if self._returned:
            self._notices = dict.fromkeys((*self._returned, *self._notices))
            self._returned = ()
            self._woken.set()
        await self._woken.wait()
        await asyncio.sleep(self._seconds)
        self._woken.clear()
        self._returned = tuple(self._notices)
        self._notices = {}
        return payloads(self._plane, self._returned)

    def sent(self) -> None:
        """Forget what was returned last."""
        self._returned = ()
