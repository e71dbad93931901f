"""Reservations for the placer: the blocking calls of `Rooms`, each in a thread and with a limit.

While the head of Ray is gone, its calls block. The first one that does shows it, and all others are
refused until a call returns.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, Self, TypeVar

from .errors import NoReservation, RayRefused, RoomsUnavailable

T = TypeVar("T")
log = logging.getLogger(__name__)

THREADS = 48
CALL_SECONDS = 5.0
"""Longest time for one call, more than a reservation takes."""
OPEN_SECONDS = 60.0
ASK_SECONDS = 2.0
"""Between two questions for the nodes."""
GONE_SECONDS = 10.0
"""Without an answer, after which a head that was there is given up. Ray would end the process."""


class RoomsPort(Protocol):
    """What the placer needs of Ray; all of it blocks."""

    def open(self) -> None:
        """Connect."""

    def nodes(self) -> dict[str, str]:
        """Return the address of the gate by name of each node that has joined."""

    def reservations(self) -> dict[str, str]:
        """Return the node by desktop that has a reservation."""

    def reserve(self, desktop_id: str, node: str) -> None:
        """Reserve room on a node."""

    def release(self, desktop_id: str) -> None:
        """Release the room of a desktop."""

    def close(self) -> None:
        """Disconnect."""


class RoomCalls:
    """Calls of Ray that never hold up the placer. Use it as a context manager."""

    def __init__(self, rooms: RoomsPort, address: str, changed: Callable[[], None]) -> None:
        """``changed`` is called when `nodes` or `problem` has changed."""
        self._rooms = rooms
        self._changed = changed
        self._silence = f"Ray does not answer at {address}"
        self._threads = ThreadPoolExecutor(THREADS, "ray")
        self.problem = self._silence
        """Why nothing can be reserved; empty if it can."""
        self.nodes: dict[str, str] = {}
        """The address of the gate by name of each node that has joined."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        # A call that blocks for good is not waited for.
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def run(self, seconds: float = ASK_SECONDS, gone_seconds: float = GONE_SECONDS) -> None:
        """Connect, and ask for the nodes again and again; never return.

        Raises:
            RayRefused: If Ray accepts us only after a change of the settings.
            RoomsUnavailable: If a head that was there is gone: another process has to connect.
        """
        await self._open(seconds)
        loop = asyncio.get_running_loop()
        answered_at = loop.time()
        while True:
            try:
                self._set(await self._call(self._rooms.nodes, CALL_SECONDS), "")
                answered_at = loop.time()
            except RoomsUnavailable as error:
                self._set(self.nodes, str(error))
                if loop.time() - answered_at >= gone_seconds:
                    raise
            await asyncio.sleep(seconds)

    async def reserve(self, desktop_id: str, node: str) -> None:
        """Reserve room on a node.

        Raises:
            NoReservation: If Ray does not reserve it in time.
            RoomsUnavailable: If Ray does not answer.
        """
        await self._checked(lambda: self._rooms.reserve(desktop_id, node))

    async def release(self, desktop_id: str) -> None:
        """Release the room of a desktop; later, where Ray does not answer."""
        try:
            await self._checked(lambda: self._rooms.release(desktop_id))
        except RoomsUnavailable as error:
            log.info("the room of desktop %s is released later: %s", desktop_id, error)

    async def reservations(self) -> dict[str, str] | None:
        """Return the node by desktop that has a reservation; None if Ray does not answer."""
        try:
            return await self._checked(self._rooms.reservations)
        except RoomsUnavailable as error:
            log.info("the reservations are read later: %s", error)
            return None

    async def _open(self, seconds: float) -> None:
        """Connect, in as many attempts as it takes."""
        while True:
            try:
                await self._call(self._rooms.open, OPEN_SECONDS)
                return
            except RayRefused:
                raise
            except RoomsUnavailable as error:
                self._set({}, str(error))
            await asyncio.sleep(seconds)

    async def _checked(self, call: Callable[[], T]) -> T:
        if self.problem:
            raise RoomsUnavailable(self.problem)
        try:
            return await self._call(call, CALL_SECONDS)
        except NoReservation:
            raise
        except RoomsUnavailable as error:
            self._set(self.nodes, str(error))
            raise

    async def _call(self, call: Callable[[], T], seconds: float) -> T:
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.get_running_loop().run_in_executor(self._threads, call)
        except TimeoutError as error:
            raise RoomsUnavailable(self._silence) from error

    def _set(self, nodes: dict[str, str], problem: str) -> None:
        if (nodes, problem) != (self.nodes, self.problem):
            if problem != self.problem:
                log.warning("%s", problem or "Ray answers")
            self.nodes, self.problem = nodes, problem
            self._changed()
