"""``deskhand up`` without its imports, which are two thirds of what its start costs.

A process of the run has imported what a control plane imports (`loaded`). A child of it for each
worker forks those that `service` starts, and ends with the worker. What is tested of the start
itself is executed.
"""

import atexit
import os
import select
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO

from deskhand.desktop.launch.channel import Channel, ChannelClosed
from tests.system.forked import ForkedProcess, open_log
from tests.system.loaded import address

READY_SECONDS = 60.0


class ForkedPlane(ForkedProcess):
    """A control plane; the process that forked it reports its status, once it has reaped it."""

    def __init__(
        self, arguments: Sequence[str], pid: int, process: int, status: int, stdout: IO[str]
    ) -> None:
        super().__init__(pid, process, stdout)
        self.args = arguments
        self._status = status
        self._code: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return its status.

        Raises:
            subprocess.TimeoutExpired: If it does not end in time.
        """
        super().wait(timeout)
        if self._code is None:
            with open(self._status) as status:  # noqa: PTH123 -- a descriptor has no path
                # Empty if the process that forked it was killed.
                self._code = int(status.read() or -signal.SIGKILL)
        return self._code


def fork_plane(
    arguments: Sequence[str], errors: Path, environment: Mapping[str, str]
) -> ForkedPlane:
    """Start ``deskhand ARGUMENTS``, which writes its ready message to ``stdout``."""
    reading, writing = os.pipe()
    log = open_log(errors)
    channel = _parent()
    try:
        request = {"arguments": list(arguments), "environment": dict(environment)}
        channel.send({**request, "folder": str(Path.cwd())}, (writing, log))
    finally:
        os.close(writing)
        os.close(log)
    answer, (process, status) = channel.receive()
    return ForkedPlane(arguments, answer["pid"], process, status, os.fdopen(reading))


@cache
def _parent() -> Channel:
    """Return the channel to the process that forks, which ends with the worker."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(str(address("planes")))
    found = Channel(connection)
    assert select.select([found], [], [], READY_SECONDS)[0], "no control plane can be forked"
    found.receive()
    atexit.register(found.close)
    return found


def load() -> None:
    """Import what a control plane imports before its first answer and soon afterwards."""
    import deskhand.tools.agents.providers.anthropic.account
    import deskhand.tools.commands.up  # noqa: F401


def serve(connection: socket.socket) -> None:
    """Fork a control plane for each request, until the connection is closed."""
    from deskhand.tools import cli

    channel = Channel(connection)
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
        # It cannot have been reaped yet.
        process = os.pidfd_open(pid)
        channel.send({"pid": pid}, (process, status))
        for descriptor in (process, status, output, log):
            os.close(descriptor)


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
