import os
import signal
import subprocess
from pathlib import Path

import pytest

from deskhand.desktop.launch_port.keeper_records import KeeperRecords
from deskhand.tools.fleet.errors import LauncherEnded, LauncherRefused
from deskhand.tools.fleet.launcher_client import launcher_process
from tests.tools.fleet.launchers import OWNER, configuration, launcher

RUNS, UNKNOWN = "aaaaaaaa", "00000000"


def test_a_desktop_is_stopped_and_removed_by_its_id(tmp_path: Path) -> None:
    client = launcher(tmp_path / "root")
    with subprocess.Popen(["sleep", "1000"]) as keeper:
        KeeperRecords(tmp_path / "root", OWNER).add(RUNS, keeper.pid)
        assert client.list()[RUNS].state == "runs"
        with pytest.raises(LauncherRefused, match="is not dead"):
            client.remove(RUNS)
        client.stop(RUNS)
        assert keeper.wait() == -signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        client.kill(RUNS)
    assert client.remove(RUNS)
    assert client.list() == {}
    for command in (client.stop, client.kill, client.remove):
        with pytest.raises(ProcessLookupError):
            command(UNKNOWN)


def test_a_process_of_its_own_carries_out_the_same_commands(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    with (
        launcher_process(configuration(tmp_path / "root"), dict(os.environ)) as client,
        subprocess.Popen(["sleep", "1000"]) as keeper,
    ):
        assert client.list() == {}
        KeeperRecords(tmp_path / "root", OWNER).add(RUNS, keeper.pid)
        client.kill(RUNS)
        assert keeper.wait() == -signal.SIGKILL
        with pytest.raises(LauncherRefused):
            client.stop("../x")


def test_the_reason_for_which_a_launcher_cannot_work_is_raised(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        launcher_process(configuration(tmp_path / "file"), {}) as client,
        pytest.raises(OSError, match="file"),
    ):
        client.list()


def test_a_launcher_that_has_ended_is_named(tmp_path: Path) -> None:
    with launcher_process(configuration(tmp_path), {}) as client:
        client.list()
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        for pid in map(int, children):
            if str(tmp_path) in Path(f"/proc/{pid}/cmdline").read_text():
                os.kill(pid, signal.SIGKILL)
                # It stays to be waited for by the client.
                os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(LauncherEnded, match="restart the control plane"):
            client.list()
