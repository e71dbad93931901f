import asyncio
import os
import signal
from pathlib import Path

import pytest

from deskhand.desktop.agent_helper.agent_helper import AgentHelper
from deskhand.desktop.agent_helper.errors import HelperEnded
from deskhand.desktop.agent_helper.launch import HelperForks, HelperLaunch, own_forks
from deskhand.desktop.agent_helper.wire.start_message import LONGEST, HelperStart
from deskhand.desktop.files.errors import FileError
from tests.desktop.agent_helper.threaded import LIMIT


async def process_of(helper: AgentHelper) -> int:
    """Return the pid of the process that opens files."""
    found = await helper.call("resolve", path="/proc/self")
    return int(Path(found.value["path"]).name)


def ended(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def test_the_fork_server_replaces_a_killed_helper_and_ends_with_its_last_one(
    tmp_path: Path,
) -> None:
    async def scene(forks: HelperForks) -> list[int]:
        async with asyncio.timeout(LIMIT), AgentHelper(forks) as helper:
            pids = [await process_of(helper)]
            os.kill(pids[0], signal.SIGKILL)
            while len(pids) == 1:
                try:
                    pids.append(await process_of(helper))
                except HelperEnded:
                    continue
            await helper.call("write", **written(tmp_path / "file"))
        return pids

    with own_forks() as forks:
        forks.prepare(HelperStart(dict(os.environ), umask=0o077))
        pids = asyncio.run(scene(forks))
        assert len(set(pids)) == 2
        assert all(ended(pid) for pid in pids)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600


def written(path: Path) -> dict[str, object]:
    condition: dict[str, object] = {"only": None, "never": []}
    return {"path": str(path), "name": str(path), "content": "eA==", "condition": condition}


def sockets_of(pid: int) -> list[Path]:
    """Return the sockets that a process has open."""
    links = [one.readlink() for one in Path(f"/proc/{pid}/fd").iterdir()]
    return [link for link in links if str(link).startswith("socket:")]


def test_a_helper_has_no_socket_but_its_own_and_uses_only_its_roots(tmp_path: Path) -> None:
    async def scene() -> None:
        launch = HelperLaunch(HelperStart({"PATH": "/usr/bin:/bin"}, (str(tmp_path), "/proc")))
        async with asyncio.timeout(LIMIT), AgentHelper(launch) as helper:
            assert len(await asyncio.to_thread(sockets_of, await process_of(helper))) == 1
            with pytest.raises(FileError, match="outside of the directories"):
                await helper.call("read", path="/etc/hostname")

    asyncio.run(scene())


def test_a_fork_server_that_has_ended_is_reported() -> None:
    with own_forks() as forks:
        with pytest.raises(OSError, match="too long"):
            forks.prepare(HelperStart({"LONG": "x" * LONGEST}))
        forks.prepare(HelperStart())
    with pytest.raises(OSError, match="does not answer"):
        forks()
