"""The locks that a control plane holds on its server for as long as it is connected.

They end with its connection, so that a control plane that was killed is known at once. Right after
a start of the server nobody is known to have ended: all of them connect again.

One lock is of the control plane itself, the second of that which leads, and the third of the placer
that leads.
"""

from sqlalchemy import text

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
