"""NOTIFY and LISTEN: payloads between the control planes of a database on a server.

- The connection is one of its own. A payload is sent outside of the transactions that it is about:
  a transaction that notifies takes a lock of the whole server when it is committed.
- A payload that could not be sent is sent again on the next connection.
- The connection also holds the locks of the control plane (`PlaneLocks`). The one that leads does
  what must be done once for a database; another one leads 5 s after its connection has ended.
- The server ends a connection on which nothing was asked for seconds (``idle_session_timeout``). So
  a process that was stopped, and a host that vanished, do not keep their locks.
- What others have sent while there was no connection is unknown. So `missed` is called as soon as
  there is one, and every two seconds until then.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from .plane_lock import PlaneLocks
from .postgresql import single_engine

log = logging.getLogger(__name__)

NAME = "deskhand"
POLL_SECONDS = 2.0
"""Between two attempts to connect."""
CHECK_SECONDS = 5.0
"""Between two statements on an idle connection."""
ANSWER_SECONDS = 5.0
_SEND = text("SELECT pg_notify(:name, :payload)")
_LIMIT_IDLENESS = text("SELECT set_config('idle_session_timeout', :milliseconds, false)")
IDLE_SECONDS = 5.0
"""By which a connection may be idle for longer than the time between two checks."""


class Outgoing(Protocol):
    """The payloads that wait to be sent."""

    async def waiting(self) -> Sequence[str]:
        """Return the payloads once there are some, or `wake` was called."""

    def sent(self) -> None:
        """Forget the payloads that were returned last."""

    def wake(self) -> None:
        """Let `waiting` return."""


class NoticeChannel:
    """Payloads to and from the control planes of a database; ``heard`` gets our own, too."""

    def __init__(
        self,
        url: str,
        locks: PlaneLocks,
        outgoing: Outgoing,
        heard: Callable[[str], None],
        missed: Callable[[], Awaitable[None]],
        check_seconds: float = CHECK_SECONDS,
    ) -> None:
        self._engine = single_engine(url, "deskhand events")
        self._locks = locks
        self._outgoing = outgoing
        self._heard = heard
        self._missed = missed
        self._check_seconds = check_seconds
        # The module of the driver, which is installed where there is such a database.
        driver: Any = getattr(self._engine.dialect.dbapi, "asyncpg", None)
        self._lost = (SQLAlchemyError, OSError, driver.PostgresError, driver.InterfaceError)

    async def run(self, seconds: float = POLL_SECONDS) -> None:
        """Send and receive; never return."""
        try:
            while True:
                began = asyncio.get_running_loop().time()
                with suppress(*self._lost):
                    await self._connected()
                await self._missed()
                # Most often a connection that has lasted can be made again at once.
                if asyncio.get_running_loop().time() < began + seconds:
                    await asyncio.sleep(seconds)
        finally:
            await self._engine.dispose()

    async def _connected(self) -> None:
        async with self._engine.connect() as connection:
            driver: Any = (await connection.get_raw_connection()).driver_connection
            driver.add_termination_listener(self._terminated)
            await driver.add_listener(NAME, lambda *received: self._heard(received[-1]))
            idle = f"{1000 * (self._check_seconds + IDLE_SECONDS):.0f}"
            await connection.execute(_LIMIT_IDLENESS, {"milliseconds": idle})
            await self._locks.hold(connection)
            try:
                await self._locks.check(connection)
                await self._missed()
                while not driver.is_closed():
                    await self._send(connection)
            finally:
                self._locks.lost()
                log.warning("the connection for events of other control planes has ended")

    def _terminated(self, _: object) -> None:
        self._locks.lost()
        self._outgoing.wake()

    async def _send(self, connection: AsyncConnection) -> None:
        payloads: Sequence[str] = ()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._check_seconds):
                payloads = await self._outgoing.waiting()
        async with asyncio.timeout(ANSWER_SECONDS):
            for payload in payloads:
                await connection.execute(_SEND, {"name": NAME, "payload": payload})
            if not payloads:
                await self._locks.check(connection)
        self._outgoing.sent()
