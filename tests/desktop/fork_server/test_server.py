"""The fork server's answers; its keepers run a command that is no desktop."""

import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from deskhand.desktop.fork_server.server import TITLE
from deskhand.desktop.launch.channel import Channel, ChannelClosed, Message, pair
from deskhand.desktop.launch_port.fork_launch import ROOM
from deskhand.desktop.launch_port.launch_port import ONE_THREAD
from tests.system.services import until

pytestmark = pytest.mark.slow("it loads all that desktops need")
PATIENCE = 60.0
WRONG = ["keeper", "python", "-P", "-m", "deskhand.desktop", "--no-such-option"]
"""The service refuses it within milliseconds."""


@dataclass
class Server:
    """A fork server, and what it was given."""

    channel: Channel
    process: subprocess.Popen[bytes]
    folder: Path
    files: ExitStack = field(default_factory=ExitStack)

    def ask(self, *, begins: bool = True, descriptors: int = 5) -> tuple[Message, list[int]]:
        """Ask for a desktop whose service refuses to start, and let its keeper begin."""
        with ExitStack() as stack:
            passed = [os.open(os.devnull, os.O_RDWR) for _ in range(3)]
            passed.append(os.open(self.folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND))
            begin, other = os.pipe()
            for one in (*passed, begin, other):
                stack.callback(os.close, one)
            self.channel.send({"command": WRONG}, [*passed, begin][-descriptors:])
            answer, found = self.channel.receive()
            if begins:
                os.write(other, b"1")
            for one in found:
                self.files.callback(os.close, one)
            return answer, found

    def log(self) -> str:
        path = self.folder / "log"
        return path.read_text() if path.exists() else ""

    def has_ended(self) -> bool:
        try:
            self.channel.receive()
        except ChannelClosed:
            return self.process.wait(PATIENCE) == 0
        return False


def ended(pidfd: int) -> bool:
    return select.select([pidfd], [], [], PATIENCE)[0] == [pidfd]


@contextmanager
def running(folder: Path, environment: dict[str, str]) -> Iterator[Server]:
    ours, theirs = pair()
    command = [sys.executable, "-P", "-m", "deskhand.desktop.fork_server", str(theirs.fileno())]
    process = subprocess.Popen(
        [*command, ROOM],
        pass_fds=(theirs.fileno(),),
        env={**os.environ, ONE_THREAD: "1", **environment},
        start_new_session=True,
    )
    theirs.close()
    server = Server(ours, process, folder)
    try:
        assert ours.receive() == ({}, [])
        yield server
    finally:
        server.files.close()
        ours.close()
        process.wait(PATIENCE)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    with ExitStack() as stack:
        yield lambda **environment: stack.enter_context(running(tmp_path, environment))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("fork_server"), {}) as found:
        yield found
    # It ends with its client, which has closed the channel.
    assert found.process.returncode == 0


def test_each_request_is_a_keeper_with_its_log(server: Server) -> None:
    cmdline = Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
    assert cmdline.rstrip(b"\0").decode() == TITLE[0]
    files = Path(f"/proc/{server.process.pid}/fd")
    before = set(files.iterdir())
    for number in (1, 2):
        answer, (pidfd,) = server.ask()
        assert answer["pid"] > 0
        assert ended(pidfd)
        assert server.log().count("unrecognized arguments: --no-such-option") == number
    # The last descriptor is closed after the answer.
    until(lambda: set(files.iterdir()) == before, "the end of what it was given")


def test_a_keeper_does_nothing_if_its_client_is_gone(server: Server) -> None:
    before = server.log()
    _, (pidfd,) = server.ask(begins=False)
    assert ended(pidfd)
    assert server.log() == before


@pytest.mark.soak
def test_it_refuses_with_a_second_thread(start: Callable[..., Server], tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    )
    server = start(PYTHONPATH=str(tmp_path))
    assert server.ask() == ({"refused": "the fork server has 2 threads"}, [])
    assert server.has_ended()


@pytest.mark.soak
def test_it_refuses_after_a_file_was_changed(start: Callable[..., Server], tmp_path: Path) -> None:
    module = tmp_path / "sitecustomize.py"
    module.write_text("VALUE = 1\n")
    server = start(PYTHONPATH=str(tmp_path))
    assert "pid" in server.ask()[0]
    module.write_text("VALUE = 22\n")
    answer, _ = server.ask()
    assert answer == {"refused": f"{module} was changed after the fork server had loaded it"}
    assert server.has_ended()


@pytest.mark.soak
def test_it_refuses_a_request_without_its_descriptors(start: Callable[..., Server]) -> None:
    server = start()
    assert server.ask(descriptors=4)[0] == {"refused": "5 descriptors are needed, not 4"}
