"""The launch port by a fork server, and by execution where that cannot serve.

The fork server is started in the background and is used from its first message on: no desktop waits
for it. When it has ended or refuses, desktops are executed, the log says so, and another one is
started.
"""

import os
import select
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from deskhand.desktop.isolation.workdirs import Workdir
from deskhand.desktop.launch.channel import Channel, ChannelClosed
from deskhand.desktop.launch.keeper import LEAN

from .exec_launch import ExecLaunch
from .launch_port import (
    LISTENING,
    ONE_THREAD,
    LaunchDescriptors,
    LaunchedDesktop,
    LaunchSpec,
)

MODE = "DESKHAND_FORK_SERVER"
"""Variable that is ``off`` to execute each desktop, ``wait`` to wait for the fork server, or the
absolute path of a socket where one is had at once (`ForkServerConnection.at`)."""

ANSWER_SECONDS = 20.0
"""Patience with a fork server, which answers within milliseconds."""

LOAD_SECONDS = 60.0
"""Patience with one that is starting, where it is waited for."""

ROOM = " " * 4095
"""Argument whose memory holds the command lines of desktops; the longest have about 2,000 bytes."""


class ForkServerLost(Exception):
    """The fork server has ended, or refuses to fork: nothing was started."""


class ForkLaunch:
    """Starts desktops as copies of a fork server; the methods block, and calls take turns."""

    def __init__(self, execution: ExecLaunch, environment: Mapping[str, str]) -> None:
        self._execution = execution
        self._mode = environment.get(MODE, "")
        self._path = Path(self._mode) if self._mode.startswith("/") else None
        self._patience = LOAD_SECONDS if self._path or self._mode == "wait" else 0.0
        self._server: ForkServerConnection | None = None

    def prepare(self) -> bool:
        """Start the fork server if there is none yet; return whether there is one, at once."""
        if self._server is None and self._mode != "off":
            environment = self._execution.environment
            with suppress(OSError):
                if self._path:
                    self._server = ForkServerConnection.at(self._path, environment)
                else:
                    self._server = ForkServerConnection.started(environment)
        return self._server is not None

    def launch(
        self,
        spec: LaunchSpec,
        descriptors: LaunchDescriptors,
        workdir: Workdir | None = None,
        profile: Path | None = None,
    ) -> LaunchedDesktop:
        """Start a desktop; see ``DesktopLaunch``. ``profile`` is the directory of its profile.

        Raises:
            OSError: If it cannot be started.
        """
        server = self._server
        if server is None or not server.is_ready(self._patience):
            return self._execution.launch(spec, descriptors, workdir, profile)
        command = self._execution.command(spec, LISTENING, workdir, profile)
        try:
            return server.fork(command, descriptors)
        except ForkServerLost as error:
            print(  # noqa: T201 - the log of the process that launches
                f"deskhand: desktops are executed until there is another fork server: {error}",
                file=sys.stderr,
            )
            self.close()
            self.prepare()
            return self._execution.launch(spec, descriptors, workdir, profile)

    def reap(self) -> None:
        """Wait for the processes that have ended: until then each is a zombie."""
        self._execution.reap()

    def close(self) -> None:
        """End the fork server; the desktops continue."""
        if self._server is not None:
            self._server.close()
            self._server = None


class ForkServerConnection:
    """The connection to a fork server, and its process where that is a child of this one."""

    def __init__(self, end: socket.socket, process: subprocess.Popen[bytes] | None) -> None:
        self._end = end
        self._channel = Channel(end)
        self._process = process
        self._is_ready = False

    @classmethod
    def started(cls, environment: Mapping[str, str]) -> "ForkServerConnection":
        """Start a fork server with these variables."""
        end, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        number = str(theirs.fileno())
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "deskhand.desktop.fork_server", number, ROOM],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                cwd="/",
                env=_variables(environment),
                start_new_session=True,
                umask=0o022,
            )
        return cls(end, process)

    @classmethod
    def at(cls, path: Path, environment: Mapping[str, str]) -> "ForkServerConnection":
        """Connect to a socket whose owner forks a fork server for each connection.

        That one takes its variables from the first message.

        Raises:
            OSError: If nothing listens there, or not for this user.
        """
        end = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            end.connect(str(path))
            Channel(end).send({"environment": _variables(environment)})
        except (OSError, ChannelClosed) as error:
            end.close()
            raise OSError(f"no fork server at {path}") from error
        return cls(end, None)

    def is_ready(self, seconds: float) -> bool:
        """Return whether its first message has come, or comes within so many seconds."""
        if not self._is_ready and self._can_read(seconds):
            with suppress(ChannelClosed):
                self._channel.receive()
            # One that has ended without a message is found by the request.
            self._is_ready = True
        return self._is_ready

    def fork(self, command: Sequence[str], descriptors: LaunchDescriptors) -> LaunchedDesktop:
        """Start a desktop.

        Raises:
            ForkServerLost: If nothing was started.
        """
        begin, begins = os.pipe()
        try:
            passed = descriptors.listening, descriptors.token, descriptors.ready, descriptors.log
            launched = self._request(command, (*passed, begin))
            # Until this arrives the new process has done nothing, and it would do nothing without.
            os.write(begins, b"1")
        finally:
            os.close(begin)
            os.close(begins)
        return launched

    def _request(self, command: Sequence[str], descriptors: Sequence[int]) -> LaunchedDesktop:
        try:
            self._channel.send({"command": list(command)}, descriptors)
            if not self._can_read(ANSWER_SECONDS):
                raise ForkServerLost("the fork server does not answer")
            answer, passed = self._channel.receive()
        except (ChannelClosed, OSError) as error:
            raise ForkServerLost("the fork server has ended") from error
        if "refused" in answer:
            raise ForkServerLost(str(answer["refused"]))
        (pidfd,) = passed
        return LaunchedDesktop(int(answer["pid"]), pidfd)

    def _can_read(self, seconds: float) -> bool:
        return bool(select.select([self._end], [], [], seconds)[0])

    def close(self) -> None:
        """End the fork server."""
        self._channel.close()
        if self._process is not None:
            # One that hangs would not notice the end of its channel.
            self._process.kill()
            self._process.wait()


def _variables(environment: Mapping[str, str]) -> dict[str, str]:
    return {**LEAN, **environment, ONE_THREAD: "1"}
