import os
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import psutil
import pytest

from deskhand.desktop.fork_server.server import TITLE
from deskhand.desktop.launch_port.exec_launch import ExecLaunch, LaunchConfiguration
from deskhand.desktop.launch_port.fork_launch import MODE, ForkLaunch
from deskhand.desktop.launch_port.launch_port import LaunchDescriptors, LaunchSpec
from deskhand.desktop.network.egress import parse_egress
from tests.live_trees import running
from tests.system.loaded import address

PATIENCE = 60.0
SPEC = LaunchSpec("00000001", parse_egress("open", [], []))


@contextmanager
def launch(folder: Path, mode: str) -> Iterator[ForkLaunch]:
    """Launch desktops whose service refuses its command line at once."""
    settings = LaunchConfiguration(str(folder), str(folder / "work"), ("--no-such-option",))
    with closing(ForkLaunch(ExecLaunch(settings, os.environ), {MODE: mode})) as found:
        yield found


def is_forked(desktops: ForkLaunch, folder: Path) -> bool:
    """Launch a desktop, wait for its end, and return whether it is not a child of ours."""
    with ExitStack() as stack:
        log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        null = os.open(os.devnull, os.O_RDWR)
        launched = desktops.launch(SPEC, LaunchDescriptors(null, null, null, log))
        for one in (null, log, launched.exit):
            stack.callback(os.close, one)
        assert select.select([launched.exit], [], [], PATIENCE)[0]
        try:
            os.waitid(os.P_PIDFD, launched.exit, os.WEXITED | os.WNOWAIT)
        except ChildProcessError:
            forked = True
        else:
            forked = False
    desktops.reap()
    assert "unrecognized arguments: --no-such-option" in (folder / "log").read_text()
    return forked


@pytest.fixture
def fork_servers() -> Callable[[], list[psutil.Process]]:
    """Return the fork servers that a test has started, also while they load."""

    def found() -> list[psutil.Process]:
        commands = running(psutil.Process().children(), psutil.Process.cmdline)
        return [process for process, line in commands.items() if not names.isdisjoint(line)]

    names = {TITLE[0], "deskhand.desktop.fork_server"}
    # Another test of this worker may have one for another host (tests/system/forked.py).
    others = found()
    return lambda: [process for process in found() if process not in others]


@pytest.mark.slow("it loads all that desktops need, twice")
def test_desktops_are_forked_and_executed_where_the_fork_server_has_ended(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    fork_servers: Callable[[], list[psutil.Process]],
) -> None:
    with launch(tmp_path, "wait") as desktops:
        assert not is_forked(desktops, tmp_path)
        desktops.prepare()
        assert is_forked(desktops, tmp_path)
        (server,) = fork_servers()
        server.send_signal(signal.SIGKILL)
        capfd.readouterr()
        assert not is_forked(desktops, tmp_path)
        assert capfd.readouterr().err == (
            "deskhand: desktops are executed until there is another fork server: "
            "the fork server has ended\n"
        )
        assert is_forked(desktops, tmp_path)
        assert capfd.readouterr().err == ""
    assert fork_servers() == []


def test_no_desktop_waits_for_a_fork_server_that_loads(tmp_path: Path) -> None:
    with launch(tmp_path, "") as desktops:
        desktops.prepare()
        assert not is_forked(desktops, tmp_path)


def test_without_a_fork_server_each_desktop_is_executed(
    tmp_path: Path, fork_servers: Callable[[], list[psutil.Process]]
) -> None:
    with launch(tmp_path, "off") as desktops:
        desktops.prepare()
        assert fork_servers() == []
        assert not is_forked(desktops, tmp_path)


def test_with_a_path_the_fork_server_comes_from_a_socket(tmp_path: Path) -> None:
    with launch(tmp_path, str(address("desktops"))) as desktops:
        assert desktops.prepare()
        assert is_forked(desktops, tmp_path)


def test_desktops_are_executed_where_nothing_listens_at_the_path(tmp_path: Path) -> None:
    with launch(tmp_path, str(tmp_path / "none")) as desktops:
        assert not desktops.prepare()
        assert not is_forked(desktops, tmp_path)
