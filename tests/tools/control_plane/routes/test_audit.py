import asyncio
from collections.abc import Sequence
from pathlib import Path

from deskhand.tools.audit.chain import AuditEvent, AuditRecord, ChainHead, ChainVerifier, linked
from deskhand.tools.audit.rows import AuditFilter
from deskhand.tools.control_plane.routes.audit import router
from tests.tools.control_plane.fakes import control_plane

AUDIT = "/api/v0/audit"
RECORDS = linked(
    [AuditEvent(float(n), "owner", "request", "d1", {"n": n}) for n in range(3)], ChainHead("one")
)


class FakeLog:
    """An audit log of three records."""

    def __init__(self) -> None:
        self.wanted: list[AuditFilter] = []

    async def newest(self, wanted: AuditFilter, limit: int) -> Sequence[AuditRecord]:
        self.wanted.append(wanted)
        return RECORDS[::-1][:limit]

    async def verify(self) -> ChainVerifier:
        verifier = ChainVerifier()
        for record in RECORDS:
            verifier.add(record)
        verifier.finish()
        return verifier


def test_records_are_listed_in_pages_and_verified(tmp_path: Path) -> None:
    async def scenario() -> None:
        log = FakeLog()
        async with control_plane(tmp_path, pages=[router(log)]).client() as client:
            page = (await client.get(AUDIT, params={"limit": 2, "actor": "owner"})).json()
            assert [one["n"] for one in page["records"]] == [3, 2]
            assert page["records"][0]["details"] == {"n": 2}
            following = {"cursor": page["next_cursor"], "limit": 9}
            assert (await client.get(AUDIT, params=following)).json()["next_cursor"] is None
            assert log.wanted == [AuditFilter("owner"), AuditFilter(before=(1.0, "one", 2))]
            wrong = await client.get(AUDIT, params={"cursor": "x"})
            assert (wrong.status_code, wrong.json()["message"]) == (
                400,
                "cursor is not one of this list.",
            )
            verified = (await client.get(f"{AUDIT}/verification")).json()
            assert verified == {
                "intact": True,
                "problems": [],
                "heads": [{"writer": "one", "n": 3, "hash": RECORDS[-1].hash}],
            }

    asyncio.run(scenario())
