"""``deskhand up`` without its imports, which are two thirds of what its start costs.

A worker has one process that has imported what a control plane imports. It forks those that
`service` starts, and ends with the worker. What is tested of the start itself is executed.
"""

import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO

from deskhand.desktop.launch.channel import Channel, ChannelClosed
from deskhand.desktop.launch_port.launch_port import ONE_THREAD

READY_SECONDS = 60.0


class ForkedPlane:
    """A control plane, as ``subprocess.Popen`` has it; the process that forked it reaps it."""

    def __init__(self, arguments: Sequence[str], pid: int, status: int, stdout: IO[str]) -> None:
        self.args = arguments
        self.pid = pid
        self.stdout = stdout
        self._process = os.pidfd_open(pid)
        self._status = status
        self._code: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return its status.

        Raises:
            subprocess.TimeoutExpired: If it does not end in time.
        """
        if self._code is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("deskhand up", timeout or 0.0)
            self._code = int(os.read(self._status, 16) or b"-9")
            os.close(self._status)
            os.close(self._process)
        return self._code

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it has not ended."""
        if self._code is None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._process, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def fork_plane(
    arguments: Sequence[str], errors: Path, environment: Mapping[str, str]
) -> ForkedPlane:
    """Start ``deskhand ARGUMENTS``, which writes its ready message to ``stdout``."""
    reading, writing = os.pipe()
    log = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    channel, _ = _parent()
    try:
        request = {"arguments": list(arguments), "environment": dict(environment)}
        channel.send({**request, "folder": str(Path.cwd())}, (writing, log))
    finally:
        os.close(writing)
        os.close(log)
    answer, (status,) = channel.receive()
    return ForkedPlane(arguments, answer["pid"], status, os.fdopen(reading))


@cache
def _parent() -> tuple[Channel, subprocess.Popen[bytes]]:
    """Return the process that forks and the channel to it; it ends when the channel is closed."""
    end, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tests.system.forked_planes", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            env={**os.environ, ONE_THREAD: "1", "PYTHONPATH": str(Path(__file__).parents[2])},
            # An interrupt of the terminal is the worker's.
            start_new_session=True,
        )
    found = Channel(end)
    assert select.select([found], [], [], READY_SECONDS)[0], "no control plane can be forked"
    found.receive()
    return found, process


def main() -> None:
    """Fork a control plane for each request."""
    from deskhand.tools import cli

    _load()
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    ended, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    statuses: dict[int, int] = {}
    channel.send({})
    while True:
        readable, _, _ = select.select([channel.fileno(), ended], [], [])
        if ended in readable:
            os.read(ended, 1024)
            _reap(statuses)
        if channel.fileno() not in readable:
            continue
        try:
            request, (output, log) = channel.receive()
        except ChannelClosed:
            return
        status, written = os.pipe()
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for descriptor, place in ((output, 1), (log, 2)):
                os.dup2(descriptor, place)
            os.closerange(3, 1024)
            os.environ.clear()
            os.environ.update(request["environment"])
            os.chdir(request["folder"])
            sys.argv = ["deskhand", *request["arguments"]]
            cli.main()
        statuses[pid] = written
        channel.send({"pid": pid}, (status,))
        for descriptor in (status, output, log):
            os.close(descriptor)


def _load() -> None:
    """Import what a control plane imports before its first answer and soon afterwards."""
    import deskhand.tools.agents.providers.anthropic.account
    import deskhand.tools.commands.up  # noqa: F401


def _reap(statuses: dict[int, int]) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        written = statuses.pop(pid)
        # The worker may have closed its end.
        with suppress(BrokenPipeError):
            os.write(written, str(os.waitstatus_to_exitcode(status)).encode())
        os.close(written)


if __name__ == "__main__":
    main()
