"""Over a directory that stands for a delegated control group."""

import asyncio
from pathlib import Path, PurePosixPath

import pytest

from deskhand.desktop.processes.cgroups import Cgroup, opened
from deskhand.desktop.processes.registry import ProcessSettings, Registry
from deskhand.desktop.processes.requests import (
    LaunchRequest,
    OutputRequest,
    SignalRequest,
    StartRequest,
)
from deskhand.desktop.processes.spawn import ResourceLimits
from tests.desktop.processes.service import LIMIT, FakeSurroundings


@pytest.fixture
def parent(tmp_path: Path) -> Path:
    (tmp_path / "cgroup.procs").touch()
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory\n")
    return tmp_path


def test_a_group_has_its_limits_and_its_process(parent: Path) -> None:
    group = Cgroup.made(parent, "command-42", 1_048_576, 1.5)
    assert group is not None
    written = {file.name: file.read_text() for file in group.path.iterdir()}
    assert written == {
        "memory.max": "1048576",
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "cpu.max": "150000 100000",
    }
    group.kill()
    assert (group.path / "cgroup.kill").read_text() == "1"


def test_a_limit_without_a_controller_is_not_of_the_group(parent: Path) -> None:
    (parent / "cgroup.subtree_control").write_text("pids\n")
    group = Cgroup.made(parent, "command-42", 1_048_576, 1.5)
    assert group is not None
    assert not group.bounds_memory
    assert not list(group.path.iterdir())


def test_memory_is_then_limited_by_process(parent: Path) -> None:
    async def scene() -> str:
        limits = ResourceLimits(memory_bytes=1 << 30, cgroup=parent)
        async with Registry(FakeSurroundings(parent), ProcessSettings(limits=limits)) as registry:
            process_id, _ = await registry.start(
                StartRequest("read x; ulimit -v", stdin=True), None
            )
            record = registry.find(process_id, None)
            await record.process.write(b"\n")
            await registry.wait(record, OutputRequest("exit"))
            return record.process.buffer.snapshot().text

    assert asyncio.run(asyncio.wait_for(scene(), LIMIT)) == "unlimited\n"
    (parent / "cgroup.subtree_control").write_text("\n")
    assert asyncio.run(asyncio.wait_for(scene(), LIMIT)) == f"{1 << 20}\n"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """The files that a process in the group ``own`` of a hierarchy mounted here reads."""
    folder = tmp_path / "proc"
    folder.mkdir()
    (folder / "cgroup").write_text("0::/own\n")
    (folder / "mountinfo").write_text(f"41 31 0:38 / {tmp_path} rw - cgroup2 cgroup2 rw\n")
    own = tmp_path / "own"
    own.mkdir()
    (own / "cgroup.procs").write_text("1\n2\n")
    (own / "cgroup.controllers").write_text("cpu memory pids\n")
    (own / "cgroup.subtree_control").write_text("")
    return folder


def test_the_services_own_group_is_left_to_commands_and_taken_back(proc: Path) -> None:
    own = proc.parent / "own"
    leaf = own / "deskhand-service"
    with opened(None, {1, 2, 3}, proc) as choice:
        assert choice.group == PurePosixPath(own)
        assert choice.enabled == {"cpu", "memory"}
        assert (own / "cgroup.subtree_control").read_text() == "+cpu +memory"
        # A file of the kernel's takes one number at a time, a plain file keeps the last.
        assert (leaf / "cgroup.procs").read_text() in {"1", "2"}
    assert (own / "cgroup.subtree_control").read_text() == "-cpu -memory"


def test_a_group_with_other_processes_stays_as_it_is(proc: Path) -> None:
    own = proc.parent / "own"
    with opened(None, {1}, proc) as choice:
        assert choice.group == PurePosixPath(own)
        assert not choice.enabled
        assert "others are in it" in choice.reason
    assert not (own / "deskhand-service").exists()
    assert (own / "cgroup.subtree_control").read_text() == ""


def test_a_named_group_goes_before_the_own_one(proc: Path, parent: Path) -> None:
    with opened(parent, set(), proc) as choice:
        assert choice.group == PurePosixPath(parent)
        assert choice.enabled == {"cpu", "memory"}


def test_controllers_that_the_system_withholds_limit_nothing(proc: Path) -> None:
    own = proc.parent / "own"
    (own / "cgroup.procs").write_text("")
    (own / "cgroup.subtree_control").unlink()
    (own / "cgroup.subtree_control").mkdir()
    with opened(None, set(), proc) as choice:
        assert choice.group == PurePosixPath(own)
        assert not choice.enabled


def test_without_a_hierarchy_there_are_the_limits_of_processes(proc: Path, tmp_path: Path) -> None:
    for absent in (tmp_path / "absent", proc):
        (proc / "mountinfo").write_text("")
        with opened(None, set(), absent) as choice:
            assert choice.group is None
    with opened(tmp_path / "absent", set(), proc) as choice:
        assert choice.group is None


def test_it_is_removed_when_nothing_is_left_in_it(parent: Path) -> None:
    group = Cgroup.made(parent, "command-42", None, None)
    assert group is not None
    (group.path / "cgroup.procs").touch()
    assert not group.remove()
    for file in group.path.iterdir():
        file.unlink()
    assert group.remove()
    assert group.remove()


def test_where_the_system_does_not_allow_it_there_is_none(parent: Path, tmp_path: Path) -> None:
    assert Cgroup.made(tmp_path / "absent", "command-42", None, None) is None
    assert Cgroup.made(parent, "command-42", None, None) is not None
    assert Cgroup.made(parent, "command-42", None, None) is None


def test_a_command_is_put_into_a_group_and_killed_with_it(parent: Path) -> None:
    async def scene() -> None:
        limits = ResourceLimits(memory_bytes=1 << 30, cgroup=parent)
        settings = ProcessSettings(close_grace=0.2, limits=limits)
        async with Registry(FakeSurroundings(parent), settings) as registry:
            process_id, _ = await registry.start(StartRequest("exec sleep 1000"), None)
            record = registry.find(process_id, None)
            (group,) = parent.glob("command-*")  # noqa: ASYNC240 - of the test
            assert (group / "cgroup.procs").read_text() == str(record.process.group)
            await registry.signal(record, SignalRequest("kill"))
            assert (group / "cgroup.kill").read_text() == "1"
            await record.process.wait_exit()

    asyncio.run(asyncio.wait_for(scene(), LIMIT))


@pytest.mark.parametrize(("named", "group"), [(True, "applications"), (False, "commands")])
def test_launched_programs_have_groups_of_their_own(
    tmp_path: Path, named: bool, group: str
) -> None:
    places = {name: tmp_path / name for name in ("commands", "applications")}
    for place in places.values():
        place.mkdir()
        (place / "cgroup.procs").touch()

    async def scene() -> None:
        limits = ResourceLimits(
            cgroup=places["commands"],
            application_cgroup=places["applications"] if named else None,
        )
        settings = ProcessSettings(close_grace=0.2, limits=limits)
        async with Registry(FakeSurroundings(tmp_path), settings) as registry:
            await registry.start(LaunchRequest("exec sleep 1000"), None)
            assert len(list(places[group].glob("command-*"))) == 1
            await registry.start(StartRequest("exec sleep 1000"), None)
            assert list(places["commands"].glob("command-*"))

    asyncio.run(asyncio.wait_for(scene(), LIMIT))
