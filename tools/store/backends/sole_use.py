"""The lock by which one control plane at a time uses a database on a server.

The directory of a control plane has a lock of its own, but two with two directories may name one
database, and each would continue the chats of the other. So the control plane holds a lock of the
server (``pg_try_advisory_lock``) on a connection of its own, for as long as it runs:

- Control planes whose desktops run on nodes can share a database: they take the lock as a shared
  one, which keeps out only a control plane that has desktops of its own.
- The server releases the lock when the connection ends, also when its process was killed.
- A connection that is lost, as by a restart of the server, is opened anew, and the lock is taken
  again. If another control plane has taken it meanwhile, `run` returns, and this one must end at
  once without another write.
"""

import asyncio
import logging
import os
import socket
from typing import Self

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from deskhand.tools.store.errors import DatabaseInUse, StoreUnavailable

from .postgresql import single_engine

log = logging.getLogger(__name__)

KEY = 0x6465736C
"""Key of the lock; the one beside it is that of a migration."""
RELEASE_SECONDS = 10.0
"""How long the lock of a control plane that has just ended may last."""
CHECK_SECONDS = 1.0
"""Between two checks of the connection, and two attempts to open it anew."""
_ALONE = text("SELECT pg_try_advisory_lock(:key)")
_SHARED = text("SELECT pg_try_advisory_lock_shared(:key)")
_HOLDER = text(
    "SELECT application_name FROM pg_stat_activity JOIN pg_locks USING (pid)"
    " WHERE locktype = 'advisory' AND objid = :key"
)


class SoleUse:
    """The lock of one control plane; closing it releases the lock."""

    def __init__(self, engine: AsyncEngine, *, shared: bool = False) -> None:
        self._engine = engine
        self._take_lock = _SHARED if shared else _ALONE
        self._connection: AsyncConnection | None = None

    @classmethod
    async def begin(
        cls, url: str, seconds: float = RELEASE_SECONDS, *, shared: bool = False
    ) -> Self:
        """Take the lock of a database; a ``shared`` one keeps out only those that want it alone.

        Raises:
            DatabaseInUse: If another control plane holds it for longer than ``seconds``.
            StoreUnavailable: If the server cannot be reached.
        """
        engine = single_engine(url, f"deskhand {socket.gethostname()} {os.getpid()}")
        use = cls(engine, shared=shared)
        deadline = asyncio.get_running_loop().time() + seconds
        try:
            while not await use._take():
                if asyncio.get_running_loop().time() >= deadline:
                    raise DatabaseInUse(use._place, await use._holder())
                await asyncio.sleep(min(CHECK_SECONDS, seconds))
        except (SQLAlchemyError, OSError) as error:
            await use.close()
            raise StoreUnavailable(use._place, str(error), may_pass=True) from error
        except BaseException:
            await use.close()
            raise
        return use

    async def run(self) -> None:
        """Keep the lock; return when another control plane has taken it."""
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            try:
                if not await self._is_kept():
                    return
            except (SQLAlchemyError, OSError) as error:
                log.warning("the lock of the database %s is taken again: %s", self._place, error)
                await self._disconnect()

    async def close(self) -> None:
        """Release the lock; closing twice is fine."""
        await self._disconnect()
        await self._engine.dispose()

    async def _is_kept(self) -> bool:
        if self._connection is None:
            return await self._take()
        # The server answers on the connection that has the lock.
        await self._connection.execute(text("SELECT 1"))
        return True

    async def _take(self) -> bool:
        if self._connection is None:
            self._connection = await self._engine.connect()
        return bool(await self._connection.scalar(self._take_lock, {"key": KEY}))

    async def _holder(self) -> str:
        connection = self._connection
        found = None if connection is None else await connection.scalar(_HOLDER, {"key": KEY})
        return str(found or "")

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.invalidate()
            await connection.close()

    @property
    def _place(self) -> str:
        return self._engine.url.set(drivername="postgresql").render_as_string(hide_password=True)
