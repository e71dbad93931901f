"""The clock that control planes of one database share.

Each of them writes when a credential ends, and each checks it. Clocks of machines differ, so both
times are those of the database, as the times of claims and leases are. It is read with what other
control planes announce, so that a request needs no statement for it.
"""

from collections.abc import Callable

from deskhand.tools.store.database import Store
from deskhand.tools.store.tables.base import database_time


class DatabaseClock:
    """Unix time of the database; ``now`` returns that of this machine, and measures since then.

    Call it to get the time. A change of this machine's clock counts until the next reading.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._time = self._read_at = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self._time + (self._now() - self._read_at)

    def set(self, time: float) -> None:
        """Take over the time that the database has shown just now."""
        self._time, self._read_at = time, self._now()

    async def read(self, store: Store) -> None:
        """Read the time of the database.

        Raises:
            StoreError: If it cannot be read.
        """
        self.set(await store.read(database_time))
