"""The bus of control planes on one PostgreSQL: rows, NOTIFY, and a relay for what has no rows.

Notices are collected for some milliseconds (`NoticeQueue`), written as payloads (:mod:`.notices`)
and sent on one connection (`NoticeChannel`). Events of the moment are too long and too many for
NOTIFY, so that they go from control plane to control plane.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from .bus import BusListener, Json
from .notice_channel import CHECK_SECONDS, POLL_SECONDS, NoticeChannel
from .notice_queue import BATCH_SECONDS, NoticeQueue
from .notices import BadPayload, Notice, read_payload
from .plane_lock import PlaneLocks

log = logging.getLogger(__name__)


class MomentRelay(Protocol):
    """Events of the moment to and from the other control planes."""

    def send(self, kind: str, chat_id: str, data: Json) -> None:
        """Send an event to those that are connected."""

    async def run(self, receive: Callable[[str, str, Json], None]) -> None:
        """Pass the events of the others to ``receive``; never return."""


@dataclass(frozen=True)
class BusTimes:
    """How often an end of the bus does something."""

    batch: float = BATCH_SECONDS
    """For which notices are collected."""
    poll: float = POLL_SECONDS
    """Between two attempts to connect."""
    check: float = CHECK_SECONDS
    """Between two statements on an idle connection."""


class PostgresBus:
    """The end of one control plane, or of a placer; ``plane`` is its id.

    ``locks`` are held on the connection for as long as it lasts.
    """

    def __init__(
        self,
        url: str,
        plane: str,
        locks: PlaneLocks,
        relay: MomentRelay | None = None,
        times: BusTimes | None = None,
    ) -> None:
        self._url = url
        self._plane = plane
        self._locks = locks
        self._relay = relay or _NoRelay()
        self._times = times or BusTimes()
        self._queue = NoticeQueue(plane, self._times.batch)

    def publish(self, notice: Notice) -> None:
        """Send a notice soon, with others in one payload."""
        self._queue.add(notice)

    def send(self, kind: str, chat_id: str, data: Json) -> None:
        """Send an event of the moment over the relay."""
        self._relay.send(kind, chat_id, data)

    async def run(self, listener: BusListener) -> None:
        """Stay connected, send and receive; never return."""
        heard = partial(self._heard, listener)
        channel = NoticeChannel(
            *(self._url, self._locks, self._queue, heard, listener.missed), self._times.check
        )
        # A defect of the relay leaves the notices alone.
        relay = asyncio.create_task(self._relay.run(listener.relay), name="relay events")
        try:
            await channel.run(self._times.poll)
        finally:
            relay.cancel()
            await asyncio.gather(relay, return_exceptions=True)

    def _heard(self, listener: BusListener, payload: str) -> None:
        try:
            plane, notices = read_payload(payload)
        except BadPayload:
            log.warning("a payload of another version is ignored")
            listener.heard(())
            return
        # The server sends our own payloads to us, too.
        if plane != self._plane:
            listener.heard(notices)


class _NoRelay:
    """Relays nothing: of one that has no address for the others."""

    def send(self, kind: str, chat_id: str, data: Json) -> None: ...
    async def run(self, receive: Callable[[str, str, Json], None]) -> None: ...
