"""The report of the page *System*."""

import asyncio
from dataclasses import replace
from pathlib import Path

from deskhand.tools.control_plane.routes.system import (
    DiskUsage,
    LoggedError,
    SystemReport,
    router,
    usage_by_kind,
    usage_by_run,
    waiting,
)
from deskhand.tools.control_plane.settings import SettingInForce
from deskhand.tools.store.retention import Kept
from tests.tools.control_plane.fakes import control_plane

FILES = [
    Kept("1", "recording", 5, 0.0, "run-1"),
    Kept("2", "step", 1, 0.0, "run-1"),
    Kept("3", "step", 9, 0.0, "run-2"),
    Kept("4", "attachment", 2, 0.0, None),
]


def test_the_use_of_the_disk_is_by_kind_and_by_run() -> None:
    kinds = [DiskUsage("step", 2, 10), DiskUsage("recording", 1, 5), DiskUsage("attachment", 1, 2)]
    assert usage_by_kind(FILES) == kinds
    assert usage_by_run(FILES) == [DiskUsage("run-2", 1, 9), DiskUsage("run-1", 2, 6)]


def test_files_that_the_bucket_does_not_have_yet_are_counted() -> None:
    one = replace(FILES[0], waits=True)
    assert waiting([one, *FILES]) == [DiskUsage("not in the bucket yet", 1, 5)]
    assert waiting(FILES) == []


def test_the_report_is_answered_as_it_is(tmp_path: Path) -> None:
    error = LoggedError("2026-01-01T00:00:00Z", "deskhand.tools", "it failed")

    async def report() -> SystemReport:
        settings = [SettingInForce("model", "", "default")]
        usage = [DiskUsage("step", 1, 2)]
        return SystemReport("1.0", settings, usage, usage, ["pin"], {"ready": 1}, [error])

    async def scenario() -> None:
        plane = control_plane(tmp_path, pages=[router(report)])
        async with plane.client() as client:
            answer = (await client.get("/api/v0/system")).json()
        assert answer["version"] == "1.0"
        assert answer["disk_by_kind"] == [{"name": "step", "files": 1, "bytes": 2}]
        assert answer["errors"][0]["text"] == "it failed"
        assert answer["secrets"] == ["pin"]
        assert "nodes" not in answer

    asyncio.run(scenario())


def test_the_report_of_a_cluster_has_its_nodes(tmp_path: Path) -> None:
    async def report() -> SystemReport:
        return SystemReport("1.0", [], [], [], [], {}, (), [{"name": "n7", "reason": "no X"}])

    async def scenario() -> None:
        plane = control_plane(tmp_path, pages=[router(report)])
        async with plane.client() as client:
            answer = (await client.get("/api/v0/system")).json()
        assert answer["nodes"] == [{"name": "n7", "reason": "no X"}]

    asyncio.run(scenario())
