"""The locks that a control plane holds on its server for as long as it is connected.

They end with its connection, so that a control plane that was killed is known at once. Right after
a start of the server nobody is known to have ended: all of them connect again.

One lock is of the control plane itself, the second of that which leads, and the third of the placer
that leads.
"""

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncConnection

KEY = 0x6465736D
"""First key of the locks; the second one is the hash of the control plane's id."""
START_SECONDS = 10.0
"""After a start of the server."""
HOLD = text("SELECT pg_try_advisory_lock(:key, hashtext(:plane))").bindparams(key=KEY)
"""Takes the lock of a control plane, until the connection ends."""
LEAD = text("SELECT pg_try_advisory_lock(:key)").bindparams(key=0x6465736E)
"""Takes the lock of the control plane that leads, of all of a database; false if one has it."""
PLACE = text("SELECT pg_try_advisory_lock(:key)").bindparams(key=0x6465736F)
"""Takes the lock of the placer that leads, of all of a database; false if one has it."""
UNLOCKED = text(
    "SELECT id FROM planes WHERE NOT EXISTS (SELECT 1 FROM pg_locks"
    " WHERE locktype = 'advisory' AND granted AND classid = CAST(:key AS oid)"
    " AND CAST(objid AS bigint) = CAST(hashtext(planes.id) AS bigint) & 4294967295)"
    " AND pg_postmaster_start_time() < now() - make_interval(secs => :seconds)"
).bindparams(key=KEY, seconds=START_SECONDS)
"""Ids of the control planes that are not connected."""


class PlaneLocks:
    """The locks of one control plane; implements `Leadership`.

    They are on the connection by which the control plane gets notices (:mod:`.notice_channel`). A
    connection of their own would be a second process of the server for each control plane, and the
    end of the one would not say that the other one has ended.
    """

    def __init__(self, plane: str, lead: TextClause = LEAD) -> None:
        """``lead`` takes the lock of the one that leads, of those that it is passed for."""
        self._plane = plane
        self._lead = lead
        self._leads = False

    def leads(self) -> bool:
        """Return whether this one leads, of those that use the database."""
        return self._leads

    async def hold(self, connection: AsyncConnection) -> None:
        """Take the lock of this control plane on a new connection."""
        await connection.execute(HOLD, {"plane": self._plane})

    async def check(self, connection: AsyncConnection) -> None:
        """Use the connection: a host that vanished closes none. Lead, if no other one does."""
        held = await connection.scalar(text("SELECT true") if self._leads else self._lead)
        self._leads = bool(held)

    def lost(self) -> None:
        """Lead no more: the connection has ended."""
        self._leads = False
