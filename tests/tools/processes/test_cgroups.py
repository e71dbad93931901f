"""Over a directory that stands for a delegated control group."""

import asyncio
from pathlib import Path

import pytest

from tests.tools.processes.service import LIMIT, FakeSurroundings
from tools.processes.cgroups import Cgroup
from tools.processes.registry import ProcessSettings, Registry
from tools.processes.requests import SignalRequest, StartRequest
from tools.processes.spawn import Limits


@pytest.fixture
def parent(tmp_path: Path) -> Path:
    (tmp_path / "cgroup.procs").touch()
    return tmp_path


def test_a_group_has_its_limits_and_its_process(parent: Path) -> None:
    group = Cgroup.made(parent, 42, 1_048_576, 1.5)
    assert group is not None
    said = {file.name: file.read_text() for file in group.path.iterdir()}
    assert said == {
        "memory.max": "1048576",
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "cpu.max": "150000 100000",
        "cgroup.procs": "42",
    }
    group.kill()
    assert (group.path / "cgroup.kill").read_text() == "1"


def test_it_is_removed_when_nothing_is_left_in_it(parent: Path) -> None:
    group = Cgroup.made(parent, 42, None, None)
    assert group is not None
    assert not group.remove()
    for file in group.path.iterdir():
        file.unlink()
    assert group.remove()
    assert group.remove()


def test_where_the_system_does_not_allow_it_there_is_none(parent: Path, tmp_path: Path) -> None:
    assert Cgroup.made(tmp_path / "absent", 42, None, None) is None
    assert Cgroup.made(parent, 42, None, None) is not None
    assert Cgroup.made(parent, 42, None, None) is None


def test_a_command_is_put_into_a_group_and_killed_with_it(parent: Path) -> None:
    async def scene() -> None:
        limits = Limits(memory_bytes=1 << 30, cgroup=parent)
        settings = ProcessSettings(close_grace=0.2, limits=limits)
        async with Registry(FakeSurroundings(parent), settings) as registry:
            process_id, _ = await registry.start(StartRequest("exec sleep 1000"), None)
            record = registry.find(process_id, None)
            group = parent / f"command-{record.process.group}"
            assert (group / "cgroup.procs").read_text() == str(record.process.group)
            await registry.signal(record, SignalRequest("kill"))
            assert (group / "cgroup.kill").read_text() == "1"
            await record.process.wait_exit()

    asyncio.run(asyncio.wait_for(scene(), LIMIT))
