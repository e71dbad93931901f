"""Counts of what a desktop could leave behind on this machine."""

import os
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Traces:
    """Counts that are the same before and after, when nothing leaks."""

    descriptors: int
    threads: int
    children: int
    segments: int
    """System V shared memory of our user."""
    sockets: int
    """X sockets and locks of our user, whose servers are dead."""


def traces(display: str = "*") -> Traces:
    """Return the current counts; ``display``, such as ``3``, limits X sockets and locks to it."""
    return Traces(
        descriptors=len(list(Path("/proc/self/fd").iterdir())),
        threads=threading.active_count(),
        children=len(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()),
        segments=sum(_ours_in_shared_memory()),
        sockets=sum(_is_dead_socket(path) for path in Path("/tmp/.X11-unix").glob(f"X{display}"))
        + sum(_is_dead_lock(path) for path in Path("/tmp").glob(f".X{display}-lock")),
    )


def _is_dead_socket(path: Path) -> bool:
    with suppress(OSError), socket.socket(socket.AF_UNIX) as client:
        if path.lstat().st_uid == os.geteuid():
            try:
                client.connect(str(path))
            except ConnectionRefusedError:
                return True
    return False


def _is_dead_lock(path: Path) -> bool:
    with suppress(OSError, ValueError):
        if path.lstat().st_uid == os.geteuid():
            return not Path("/proc", str(int(path.read_text()))).exists()
    return False


def _ours_in_shared_memory() -> list[bool]:
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    # The fifth number is the process that made it (proc_sysvipc_shm(5)).
    return [line.split()[4] == str(os.getpid()) for line in lines]
