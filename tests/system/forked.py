"""``deskhand desktop``, forked as the desktops of control planes are.

Fork servers are children of a process of the run (`loaded`): those of a worker's desktops, one for
each environment, and those of its control planes. Desktops on another host have fork servers that
are executed there. All of them end with the worker.
"""

import atexit
import ctypes
import os
import select
import signal
import socket
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

from deskhand.desktop.client.command import service_command
from deskhand.desktop.launch.channel import Channel, ChannelClosed
from deskhand.desktop.launch_port.fork_launch import (
    LOAD_SECONDS,
    ForkServerConnection,
    ForkServerLost,
)
from deskhand.desktop.launch_port.launch_port import LaunchDescriptors
from tests.system.loaded import address

CLONE_FS, CLONE_NEWNS, CLONE_NEWNET = 0x200, 0x2_0000, 0x4000_0000
"""Of <linux/sched.h>."""

_servers: dict[tuple[frozenset[tuple[str, str]], int | None], ForkServerConnection] = {}
_libc = ctypes.CDLL(None, use_errno=True)


class ForkedProcess:
    """A forked service, as ``subprocess.Popen`` has it; only its parent has its status.

    ``process`` is its pidfd, ``held`` the other end of its input; this closes both.
    """

    def __init__(self, pid: int, process: int, stdout: IO[str], held: int = -1) -> None:
        self.pid = pid
        self._held = held
        self.stdout = stdout
        self._process = process

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for its end; return its status where that is known.

        Raises:
            subprocess.TimeoutExpired: If it does not end in time.
        """
        if self._process != -1:
            if not select.select([self._process], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("deskhand", timeout or 0.0)
            os.close(self._process)
            self._process = -1
            if self._held != -1:
                os.close(self._held)
        return None

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it has not ended."""
        if self._process != -1:
            try:
                signal.pidfd_send_signal(self._process, number)
            except ProcessLookupError:
                self.wait()

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def open_log(path: Path) -> int:
    """Open a file anew for the standard error of a process."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)


def fork_desktop(
    arguments: list[str], errors: Path, environment: Mapping[str, str], host: int | None
) -> ForkedProcess:
    """Start ``deskhand desktop ARGUMENTS``, which writes its ready message to ``stdout``.

    It ends with the worker, also with one that is killed.

    ``host`` is a process with the network and the mounts of the desktop's host; by default these
    are the worker's.

    Raises:
        ForkServerLost: If it cannot be forked.
    """
    reading, writing = os.pipe()
    null = os.open(os.devnull, os.O_RDONLY)
    standard_input, held = os.pipe()
    log = open_log(errors)
    command = service_command(*arguments, "--until-input-ends")
    try:
        files = LaunchDescriptors(listening=null, token=standard_input, ready=writing, log=log)
        launched = _server(environment, host).fork(command, files)
    except ForkServerLost:
        os.close(reading)
        os.close(held)
        raise
    finally:
        for one in (null, standard_input, writing, log):
            os.close(one)
    return ForkedProcess(launched.pid, launched.exit, os.fdopen(reading), held)


def _server(environment: Mapping[str, str], host: int | None) -> ForkServerConnection:
    # A variable of pytest that differs in each test.
    chosen = {name: one for name, one in environment.items() if name != "PYTEST_CURRENT_TEST"}
    key = frozenset(chosen.items()), host
    if key not in _servers:
        _servers[key] = (
            ForkServerConnection.at(address("desktops"), chosen)
            if host is None
            else _on(host, chosen)
        )
        atexit.register(_servers[key].close)
    if not _servers[key].is_ready(LOAD_SECONDS):
        raise ForkServerLost("the fork server is not ready")
    return _servers[key]


def _on(host: int, environment: Mapping[str, str]) -> ForkServerConnection:
    # A thread that joins namespaces hands them on to its children, and ends with them.
    with ThreadPoolExecutor(1, initializer=_join, initargs=(host,)) as thread:
        return thread.submit(ForkServerConnection.started, environment).result()


def _join(host: int) -> None:
    """Join the network and mount namespaces of a process with this thread (setns(2))."""
    namespaces = Path(f"/proc/{host}/ns")
    with (namespaces / "net").open() as net, (namespaces / "mnt").open() as mounts:
        # A thread that shares its working directory with others may not change its mounts.
        for result in (
            _libc.unshare(CLONE_FS),
            _libc.setns(net.fileno(), CLONE_NEWNET),
            _libc.setns(mounts.fileno(), CLONE_NEWNS),
        ):
            if result == -1:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def load() -> None:
    """Import what a desktop imports."""
    from deskhand.desktop.service.preload import preload_all

    preload_all()


def serve(connection: socket.socket) -> None:
    """Be the fork server that a connection asks for, until it is closed."""
    from deskhand.desktop.fork_server import server

    try:
        request, _ = Channel(connection).receive()
    except ChannelClosed:
        return
    os.environ.clear()
    os.environ.update(request["environment"])
    server.serve(connection.detach())
