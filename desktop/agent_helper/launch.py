"""Starts helpers, each with one end of a socketpair.

A service without privileges executes the interpreter for each of them. One that root starts cannot
do so later: it gives up the rights to choose a user, and its package may lie where the desktop sees
nothing. So there is a *fork server* before: a process that keeps root's rights inside the desktop,
has loaded the helper's modules, opens nothing of the agent, and forks helpers, which become the
agent's user. Where there is an init, that has forked the fork server (`launch/inside`).
"""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Protocol

import deskhand
from deskhand.desktop.agent_helper.wire.start_message import END, FILTER, START, HelperStart

# `-I` keeps the working directory and PYTHON* variables out of the search path, `-S` the packages
# of the environment, none of which the helper uses.
_OPTIONS = ("-I", "-S")
_BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from deskhand.desktop.agent_helper.worker import process; "
    "getattr(process, sys.argv[2])(int(sys.argv[3]))"
)


class HelperProcess(Protocol):
    """A running helper, and the service's end of its socket."""

    @property
    def connection(self) -> socket.socket:
        """A non-blocking socket; closing it ends the helper."""

    def end(self, grace: float) -> None:
        """Wait until it has ended, after ``grace`` seconds by SIGKILL. Blocks."""


StartHelper = Callable[[], HelperProcess]
"""Starts a helper. Blocks for milliseconds; raises OSError."""


@dataclass(frozen=True)
class ChildHelper:
    """A helper that is a child of this process."""

    connection: socket.socket
    child: subprocess.Popen[bytes]

    def end(self, grace: float) -> None:
        """Wait until it has ended, after ``grace`` seconds by SIGKILL. Blocks."""
        try:
            self.child.wait(grace)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


@dataclass(frozen=True)
class HelperLaunch:
    """Starts helpers as the present user."""

    start: HelperStart

    def __call__(self) -> ChildHelper:
        """Start a helper.

        Raises:
            OSError: If the interpreter cannot be executed.
        """
        own, its = socket.socketpair()
        with its:
            helper = _started("be_helper", own, its)
        own.sendall(self.start.line())
        own.setblocking(False)
        return helper


def _started(function: str, own: socket.socket, its: socket.socket) -> ChildHelper:
    """Start a process that loads the helper's modules, with ``its`` socket."""
    try:
        child = subprocess.Popen(
            [sys.executable, *_OPTIONS, "-c", _BOOT, package_root(), function, str(its.fileno())],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(its.fileno(),),
            # A signal to the process group of the service ends the service first.
            start_new_session=True,
        )
    except OSError:
        own.close()
        raise
    return ChildHelper(own, child)


class HelperForks:
    """The fork server of helpers at the other end of a socket; calls start a helper."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._asking = Lock()

    def close(self) -> None:
        """End the fork server and all helpers."""
        self._connection.close()

    def prepare(self, start: HelperStart) -> int:
        """Fix how all helpers start; return the fork server's pid when their modules are loaded.

        Raises:
            OSError: If the fork server does not answer.
        """
        return int(self._ask(start.line().decode()))

    def __call__(self) -> "ForkedHelper":
        """Have a helper forked.

        Raises:
            OSError: If the fork server does not answer.
        """
        helper = self._forked(START)
        helper.connection.setblocking(False)
        return helper

    def start_filter(self) -> "ForkedHelper":
        """Have a filter of X clients forked, whose socket waits for its first message.

        Raises:
            OSError: If the fork server does not answer.
        """
        return self._forked(FILTER)

    def _forked(self, role: str) -> "ForkedHelper":
        own, its = socket.socketpair()
        with its:
            try:
                pid = int(self._ask(role, its.fileno()))
            except (OSError, ValueError) as error:
                own.close()
                raise OSError(f"the fork server of helpers does not answer: {error}") from error
        return ForkedHelper(own, pid, self)

    def end(self, pid: int, grace: float) -> None:
        """Have the fork server wait for a helper and reap it."""
        self._ask(f"{END} {pid} {grace}")

    def _ask(self, request: str, *descriptors: int) -> str:
        with self._asking:
            socket.send_fds(self._connection, [request.encode()], descriptors)
            answer = self._connection.recv(64).decode()
        if not answer:
            raise OSError("it has ended")
        return answer


@contextmanager
def own_forks() -> Iterator[HelperForks]:
    """Have a fork server with the rights of the caller, as a child, during the block.

    Raises:
        OSError: If the interpreter cannot be executed.
    """
    own, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        server = _started("fork_helpers", own, its)
    forks = HelperForks(own)
    try:
        yield forks
    finally:
        forks.close()
        server.child.wait()


@dataclass(frozen=True)
class ForkedHelper:
    """A helper that is a child of the fork server."""

    connection: socket.socket
    pid: int
    server: HelperForks

    def end(self, grace: float) -> None:
        """Wait until it has ended, after ``grace`` seconds by SIGKILL. Blocks."""
        try:
            self.server.end(self.pid, grace)
        except OSError:
            # The fork server has ended, and all helpers with it.
            return


def package_root() -> str:
    """Return the directory that contains the package ``deskhand``."""
    return os.fspath(Path(deskhand.__path__[0]).parent)
