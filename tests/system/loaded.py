"""Processes that have loaded what desktops or control planes need, and fork them for all workers.

A run has one process, this module, which forks such a process when a worker first asks for one.
Each connection of a worker has a child of it. All of them end with the run.
"""

import atexit
import gc
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

FOLDER = "DESKHAND_TEST_LOADED"
"""Variable with the folder of the sockets, which workers get from the process of the run."""

PROGRAMS = {"desktops": "tests.system.forked", "planes": "tests.system.forked_planes"}
"""Modules with ``load()`` and ``serve(connection)``, by the names of their sockets."""


def address(program: str) -> Path:
    """Return the socket where each connection has a child of that program; start the process."""
    return Path(os.environ.get(FOLDER) or start(), program)


def start() -> str:
    """Start the process, which ends with this one; return the folder of its sockets.

    The folder is for this user alone, and in the environment of this process.
    """
    # The process itself is to load nothing, and the run's no more than its tests need.
    from deskhand.desktop.launch_port.fork_launch import ROOM
    from deskhand.desktop.launch_port.launch_port import ONE_THREAD

    folder = tempfile.mkdtemp(prefix="deskhand-forks-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ[FOLDER] = folder
    life, theirs = socket.socketpair()
    sockets = [_listening(Path(folder, name)) for name in PROGRAMS]
    files = [one.fileno() for one in (theirs, *sockets)]
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "tests.system.loaded", *map(str, files), ROOM],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=files,
        cwd="/",
        env={**os.environ, ONE_THREAD: "1", "PYTHONPATH": str(Path(__file__).parents[2])},
        # An interrupt of the terminal is the worker's.
        start_new_session=True,
        umask=0o022,
    )
    for one in (theirs, *sockets):
        one.close()
    atexit.register(process.wait)
    atexit.register(life.close)
    return folder


def _listening(path: Path) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(str(path))
    listening.listen()
    return listening


def main() -> None:
    """Fork the process of each program when it is first asked for."""
    life, *listening = (socket.socket(fileno=int(one)) for one in sys.argv[1 : 2 + len(PROGRAMS)])
    # The kernel reaps all children.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    waiting = dict(zip(listening, PROGRAMS.values(), strict=True))
    while True:
        for one in select.select([life, *waiting], [], [])[0]:
            if one is life:
                return
            module = waiting.pop(one)
            if os.fork() == 0:
                for other in waiting:
                    other.close()
                _fork_children(one, life, module)
                os._exit(0)
            one.close()


def _fork_children(listening: socket.socket, life: socket.socket, module: str) -> None:
    program = import_module(module)
    program.load()
    gc.collect()
    gc.freeze()
    while life not in select.select([listening, life], [], [])[0]:
        connection, _ = listening.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listening.close()
            life.close()
            os.setsid()
            program.serve(connection)
            os._exit(0)
        connection.close()


if __name__ == "__main__":
    main()
