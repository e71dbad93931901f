"""Counts of what a desktop could leave behind on this machine."""

import os
import socket
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

import psutil

from deskhand.desktop.uid_base import DEFAULT_UID_BASE

SPARE_THREADS = 6
"""A pool starts a thread of its own when all others happen to be busy (`ThreadPoolExecutor`)."""
SPARE_DESCRIPTORS = 4


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


@dataclass(frozen=True)
class PlaneTraces:
    """The same of a control plane without desktops, its launcher and its fork server."""

    processes: int
    descriptors: int
    threads: int
    of_users: int
    """Processes with an id of the users of desktops."""
    segments: int
    """System V shared memory of the users of desktops."""
    sockets: int
    """X sockets and locks of the users of desktops."""
    folders: int
    """Directories of desktops."""
    groups: int
    """Control groups of desktops."""

    def has_grown(self, first: Self) -> bool:
        """Return whether something was left behind since the first counts."""
        # The control plane keeps a connection to its database more or less.
        earlier = {
            **asdict(first),
            "descriptors": first.descriptors + SPARE_DESCRIPTORS,
            "threads": first.threads + SPARE_THREADS,
        }
        return any(count > earlier[name] for name, count in asdict(self).items())


def plane_traces(pid: int, desktops: Path) -> PlaneTraces:
    """Return the present counts; ``desktops`` is the folder of the directories of desktops."""
    family = _family(pid)
    names = (*Path("/tmp/.X11-unix").glob("X*"), *Path("/tmp").glob(".X*-lock"))
    return PlaneTraces(
        processes=len(family),
        descriptors=sum(one.num_fds() for one in family),
        threads=sum(one.num_threads() for one in family),
        of_users=sum(one.uids().real >= DEFAULT_UID_BASE for one in psutil.process_iter()),
        segments=sum(owner >= DEFAULT_UID_BASE for owner in _owners_of_shared_memory()),
        sockets=sum(path.lstat().st_uid >= DEFAULT_UID_BASE for path in names),
        folders=sum(path.is_dir() for path in desktops.iterdir()),
        groups=sum(1 for _ in Path("/sys/fs/cgroup").rglob("deskhand-*")),
    )


def plane_memory(pid: int) -> int:
    """Return the resident bytes of the same processes."""
    return sum(one.memory_info().rss for one in _family(pid))


def _family(pid: int) -> list[psutil.Process]:
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


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


def _owners_of_shared_memory() -> list[int]:
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    # The eighth number is the user (proc_sysvipc_shm(5)).
    return [int(line.split()[7]) for line in lines]


def _ours_in_shared_memory() -> list[bool]:
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    # The fifth number is the process that made it (proc_sysvipc_shm(5)).
    return [line.split()[4] == str(os.getpid()) for line in lines]
