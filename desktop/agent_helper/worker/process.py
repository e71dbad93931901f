"""The helper's process: it becomes the agent's user and answers calls until the service ends.

It is started with the rights of the user who starts the service: the agent's user may be unable
to read the interpreter and this package. All modules are loaded before it changes its user; nothing
of the agent is opened before that.
"""

import ctypes
import gc
import importlib
import os
import resource
import socket
import sys
from collections.abc import Callable, Sequence
from io import RawIOBase
from pathlib import Path
from typing import Any

from deskhand.desktop.agent_helper.wire.start_message import FILTER, START, HelperStart
from deskhand.desktop.files.roots import Roots
from deskhand.desktop.x_filter import relay

from .fork_server import ForkServer
from .operations import operations
from .server import CallServer, Operation

HELPER, FORK_SERVER, X_FILTER = b"agent-helper", b"helper-forks", b"x-filter"
"""Names of the processes, as `ps` shows them."""

MOST_FILTER_BYTES = 512 << 20
"""Memory of a filter of X clients: 128 clients with the most bytes that wait take a quarter."""

PR_SET_DUMPABLE = 4
PR_SET_NAME = 15
PR_SET_NO_NEW_PRIVS = 38
"""Of <linux/prctl.h>, prctl(2)."""
M_ARENA_MAX = -8
"""Of <malloc.h>, mallopt(3)."""

_KERNEL = ctypes.CDLL(None)


def be_helper(descriptor: int) -> None:
    """Be a helper at the socket of this number; then exit."""
    connection = _prepared(descriptor)
    with connection.makefile("rb", buffering=0) as file:
        start = HelperStart.parse(_line(file))
    serve(connection, start)
    # Threads may be blocked in a system call; nothing waits for them.
    os._exit(0)


def fork_helpers(descriptor: int, join: Callable[[], None] = lambda: None) -> None:
    """Be the fork server of helpers at the socket of this number; then exit.

    ``join`` is called before the first helper is forked, in this process.
    """
    _KERNEL.prctl(PR_SET_NAME, FORK_SERVER, 0, 0, 0)

    def prepare(start: HelperStart) -> None:
        # The files of the library may lie where the desktop sees nothing.
        _picture_operations(start)
        join()

    roles = {START: serve, FILTER: filter_clients}
    ForkServer(_prepared(descriptor), roles, prepare).serve()
    os._exit(0)


def _prepared(descriptor: int) -> socket.socket:
    # Each thread would otherwise get an arena of its own, whose freed memory others cannot use.
    _KERNEL.mallopt(M_ARENA_MAX, 1)
    # Commands of the agent may not read the memory and the descriptors of this process.
    _KERNEL.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    gc.freeze()
    connection = socket.socket(fileno=descriptor)
    connection.set_inheritable(False)
    return connection


def _line(file: RawIOBase) -> bytes:
    """Read no further than the end of a line, as calls follow it."""
    line = b""
    while not line.endswith(b"\n"):
        line += file.read(1) or b"\n"
    return line


def serve(connection: socket.socket, start: HelperStart) -> None:
    """Become the agent's user and answer calls until the service closes the socket."""
    _KERNEL.prctl(PR_SET_NAME, HELPER, 0, 0, 0)
    pictures = _picture_operations(start)
    _become(start.user, start.groups)
    if start.umask is not None:
        os.umask(start.umask)
    # For programs that are found by PATH, and for the place of temporary files.
    os.environ.clear()
    os.environ.update(start.environment)
    roots = Roots.of(tuple(Path(path) for path in start.roots))
    known = {**operations(roots, start.environment), **pictures(roots)}
    CallServer(connection, known).serve()


def filter_clients(connection: socket.socket, start: HelperStart) -> None:
    """Become the service's user and filter X clients until the service closes the socket."""
    _KERNEL.prctl(PR_SET_NAME, X_FILTER, 0, 0, 0)
    # A client that names ids without end ends the filter, which is started again, and nothing else.
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_FILTER_BYTES, MOST_FILTER_BYTES))
    _become(start.service, ())
    relay.serve(connection)


def _become(user: tuple[int, int] | None, groups: Sequence[int]) -> None:
    if user is None:
        return
    # The order is fixed: without root's rights the groups cannot be changed any more.
    os.setgroups(groups)
    os.setgid(user[1])
    os.setuid(user[0])
    _KERNEL.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    # The change of user resets it (prctl(2)).
    _KERNEL.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def _picture_operations(start: HelperStart) -> Callable[[Roots], dict[str, Operation]]:
    """Load what decodes pictures, if that is wanted; again it is found without its files."""
    if not start.pictures:
        return lambda _: {}
    sys.path.append(start.pictures)
    try:
        load: Any = importlib.import_module("deskhand.desktop.agent_helper.worker.pictures")
    finally:
        # The agent may make a folder of this name in what the desktop sees.
        sys.path.remove(start.pictures)
    found: Callable[[Roots], dict[str, Operation]] = load.operations
    return found
