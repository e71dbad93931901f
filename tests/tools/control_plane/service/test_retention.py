"""Limits on stored files by settings."""

import asyncio
import time
from pathlib import Path

import pytest

from deskhand.tools.audit.log import AuditLog
from deskhand.tools.control_plane.service.retention import remove_expired, retention_limits
from deskhand.tools.control_plane.settings import RETENTION, BadSetting, load
from deskhand.tools.store.files import FileFacts
from deskhand.tools.store.maintenance import StorageMaintenance
from deskhand.tools.store.retention import DAY, RetentionLimits
from tests.tools.agents.chats.fakes import open_chats

DATA = Path("/data")


def test_the_defaults_are_those_of_the_store() -> None:
    assert retention_limits(load({}, {}, "", DATA)) == RetentionLimits()


def test_each_kind_has_a_setting() -> None:
    file = "\n".join(f"{name} = {value}" for value, name in enumerate(RETENTION, 1))
    assert retention_limits(load({}, {}, file, DATA)) == RetentionLimits(
        recording_days=1,
        recording_bytes=2 * 10**9,
        step_bytes=3 * 10**6,
        attachments=4,
        archived_days=5,
    )


@pytest.mark.parametrize("name", RETENTION)
def test_nothing_is_removed_by_a_zero(name: str) -> None:
    with pytest.raises(BadSetting, match=f"{name}: give 1 or more"):
        load({}, {}, f"{name} = 0", DATA)


def test_one_of_several_control_planes_enforces_the_limits(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with asyncio.timeout(20), open_chats(tmp_path) as p:
            facts = FileFacts(None, "recording", "old.mp4", "video/mp4")
            old = await p.files.save(b"12345", facts)
            later = old.created_at + 1000 * DAY
            maintenance = StorageMaintenance(p.store, tmp_path / "files", lambda: later)
            audit = AuditLog(p.store, "one", time.time)
            await remove_expired(maintenance, p.chats, audit, leads=False)
            assert await p.files.existing([old.id]) == {old.id: old}
            await remove_expired(maintenance, p.chats, audit, leads=True)
            assert await p.files.existing([old.id]) == {}

    asyncio.run(scenario())
