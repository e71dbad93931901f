"""The places of desktops whose chats wait for a person.

While a chat has given its place back, its desktop is in a pause (``/api/v0/desktop/pause``), which
is renewed until the chat goes on: a pause does not outlast its control plane. A desktop on which
another chat works neither pauses nor loses its place.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Protocol

from deskhand.tools.kit.support.spec import Machine, MachineRefused, MachineUnavailable

log = logging.getLogger(__name__)

PAUSE = "/api/v0/desktop/pause"
PAUSE_SECONDS = 90.0
RENEWAL_SECONDS = 30.0
"""Interval of the renewals, less than half of a pause."""
TIMEOUT = 5.0


class Places(Protocol):
    """The places for desktops."""

    def held(self, chat_id: str) -> str | None:
        """Return the chat's desktop, None if it has none of its own here."""

    def give_back(self, chat_id: str) -> None:
        """Give the place of a chat to others."""

    def keep(self, chat_id: str) -> None:
        """Give a chat its place again at once."""

    async def take_again(self, chat_id: str) -> None:
        """Return when a chat has its place again."""


class GivenPlaces:
    """Gives places back, and takes them again.

    ``pools`` have the places, ``works`` returns whether another chat works on a chat's desktop. A
    chat that has waited for ``after_seconds`` gives its place back. ``seconds`` is the interval in
    which ``works`` is asked and a pause is renewed.
    """

    def __init__(
        self,
        pools: Sequence[Places],
        machine: Callable[[str], Awaitable[Machine]],
        works: Callable[[str, str], Awaitable[bool]],
        after_seconds: float,
        seconds: float = RENEWAL_SECONDS,
    ) -> None:
        self._pools = pools
        self._machine = machine
        self._works = works
        self.after_seconds = after_seconds
        self._seconds = seconds

    @contextlib.asynccontextmanager
    async def given_back(self, chat_id: str) -> AsyncIterator[None]:
        """Give the place of a chat back while the body runs, then wait for one in the queue.

        After an exception, or a cancellation of the body or the wait, it has its place at once.
        """
        places = next((one for one in self._pools if one.held(chat_id) is not None), None)
        if places is None:
            yield
            return
        pausing = asyncio.create_task(self._pause(places, chat_id), name=f"pause of {chat_id}")
        try:
            yield
            await places.take_again(chat_id)
        finally:
            pausing.cancel()
            places.keep(chat_id)
            (failure,) = await asyncio.gather(pausing, return_exceptions=True)
            if isinstance(failure, Exception):
                log.error("the pause of chat %s has failed", chat_id, exc_info=failure)

    async def _pause(self, places: Places, chat_id: str) -> None:
        """Give the place back and renew the pause; end it when this is cancelled."""
        machine: Machine | None = None
        try:
            while (desktop_id := places.held(chat_id)) is not None:
                if await self._works(chat_id, desktop_id):
                    places.keep(chat_id)
                else:
                    machine = machine or await self._machine(chat_id)
                    places.give_back(chat_id)
                    await self._request(machine, PAUSE_SECONDS)
                await asyncio.sleep(self._seconds)
        finally:
            if machine is not None:
                await self._request(machine, 0.0)

    async def _request(self, machine: Machine, seconds: float) -> None:
        try:
            await machine.request("POST", PAUSE, json={"seconds": seconds}, timeout=TIMEOUT)
        except (MachineRefused, MachineUnavailable) as error:
            log.warning("a desktop does not pause for %s s: %s", seconds, error)
