"""Parent process of the desktop service: kills all of its descendants when the service ends.

Run as ``python -S -E keeper.py COMMAND...``. The keeper imports the standard library only, so that
its resident memory stays small for the lifetime of the desktop.

The keeper is a child subreaper (PR_SET_CHILD_SUBREAPER, prctl(2)). The kernel reparents every
orphan of the service to it, including daemons that forked twice and called setsid(2), which no
process group or session reaches. Its states:

* *running*: SIGCHLD wakes the keeper, which reaps orphans and waits for the service itself.
* *ending*: after SIGTERM, SIGINT or SIGHUP the service gets SIGTERM and a grace period. When that
  is used up, the service gets SIGKILL.
* *sweeping*: the service has ended, for whatever reason. Every remaining descendant is killed.
  Then the lock and the socket are removed that a killed X server leaves in ``/tmp``.

Invariant: when the keeper exits, no process that the service started is left, except those of
another user (``sudo``).
"""

import _socket
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
"""<linux/prctl.h>."""

KEEPER = "DESKHAND_KEEPER"
"""Variable with the keeper's pid: by it the service knows its keeper, and reports it as its own."""

# By default glibc raises the mmap threshold to the size of each mapped block that is freed
# (mallopt(3)), so that after the first freed picture it never returns such memory to the kernel.
LEAN = {"MALLOC_MMAP_THRESHOLD_": str(3_000_000), "MALLOC_TRIM_THRESHOLD_": str(8 << 20)}
"""Blocks of whole screens (3.1 MB for the encoder, 8.3 MB as captured) are mapped and returned to
the kernel; smaller ones, such as the 2.8 MB of a 1280x720 screenshot, stay in the heap."""

GRACE_SECONDS = 5.0
"""Processor time that the service has to end after SIGTERM; callers are promised 5 s."""

LONGEST_SECONDS = 60.0
"""Upper bound in wall-clock time, for machines whose processors are busy with other work."""

X_FILES = Path("/tmp")  # noqa: S108 - compiled into every X server
"""Folder of the locks and sockets of X servers."""

LOOK_SECONDS = 0.25
"""Interval in which the load is sampled during the grace period."""


class GracePeriod:
    """Remaining time of a service to end. Times are seconds on a monotonic clock.

    On a loaded machine the service gets only its share of the processors, and is charged only
    that share, up to `LONGEST_SECONDS`.
    """

    def __init__(self, now: float, grace: float = GRACE_SECONDS) -> None:
        self._latest = now
        self._end = now + LONGEST_SECONDS
        self._left = grace

    def spent(self, now: float, runnable: int, processors: int) -> bool:
        """Charge the service's share of the time since the last call; return True if used up."""
        self._left -= (now - self._latest) * processors / max(processors, runnable)
        self._latest = now
        return self._left <= 0.0 or now >= self._end


def keep(command: list[str], grace_seconds: float = GRACE_SECONDS) -> int:
    """Run the service until it ends; return its status as ``subprocess`` has it.

    ``grace_seconds`` is the processor time that the service has to end after a signal.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wanted = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD}
    # Blocked signals stay pending for sigtimedwait(2), so none arrives between two checks.
    signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
    # Values that the caller has set go before ours.
    environment = LEAN | dict(os.environ) | {KEEPER: str(os.getpid())}
    # execve(2) keeps the signal mask, and it keeps SIGINT ignored, as a shell leaves it for
    # background jobs: the service needs both at their defaults.
    service = os.posix_spawn(
        command[0], command, environment, setsigmask=[], setsigdef=[signal.SIGINT]
    )
    status, user, ended = _watch(service, wanted, grace_seconds)
    remove_x_files(ended | sweep(), user)
    return os.waitstatus_to_exitcode(status)


def _watch(
    service: int, wanted: set[signal.Signals], grace_seconds: float
) -> tuple[int, int, set[int]]:
    """Return wait status and user of the service, and the processes that were reaped with it."""
    grace: GracePeriod | None = None
    while True:
        user = _user(service)
        status, ended = _reap(service)
        if status is not None:
            return status, user, ended
        caught = signal.sigtimedwait(wanted, 3600.0 if grace is None else LOOK_SECONDS)
        if caught is not None and caught.si_signo != signal.SIGCHLD:
            os.kill(service, signal.SIGTERM)
            grace = GracePeriod(time.monotonic(), grace_seconds)
        elif grace is not None and grace.spent(time.monotonic(), _runnable(), os.cpu_count() or 1):
            os.kill(service, signal.SIGKILL)
            grace = None


def _runnable() -> int:
    """Return the number of runnable threads of the machine (proc(5), loadavg), without ours."""
    return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0]) - 1


def _user(service: int) -> int:
    """Return the user that a process works as; it has one until it is reaped."""
    fields = Path(f"/proc/{service}/status").read_text().partition("\nUid:")[2].split()
    return int(fields[0])


def _reap(service: int) -> tuple[int | None, set[int]]:
    """Reap all children that have ended; return them, and the service's wait status if it has."""
    # SIGCHLD is not queued: one signal may stand for several children (signal(7)).
    found, ended = None, set[int]()
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found, ended
        if pid == 0:
            return found, ended
        ended.add(pid)
        if pid == service:
            found = status


def sweep(kill: Callable[[int, int], None] = os.kill) -> set[int]:
    """Kill every descendant and return them; the kernel reparents grandchildren in each round.

    A process of another user, as ``sudo`` starts one, cannot be killed and is not waited for.
    """
    ended = set[int]()
    while True:
        killed = [_killed(pid, kill) for pid in _children()]
        if not any(killed):
            return ended
        ended.add(os.waitpid(-1, 0)[0])


def _killed(pid: int, kill: Callable[[int, int], None]) -> bool:
    try:
        kill(pid, signal.SIGKILL)
    except PermissionError:
        return False
    return True


def _children() -> Iterator[int]:
    for task in Path("/proc/self/task").iterdir():
        yield from map(int, (task / "children").read_text().split())


def remove_x_files(ended: set[int], user: int, folder: Path = X_FILES) -> None:
    """Remove what X servers that were killed leave: locks of ended processes, sockets of a user.

    An X server that chooses its display by ``-displayfd`` writes no lock.
    """
    for path in (folder / ".X11-unix").glob("X*"):
        with suppress(OSError):
            if path.is_socket() and path.lstat().st_uid == user and not _served(path):
                path.unlink()
    for lock in folder.glob(".X*-lock"):
        with suppress(OSError, ValueError):
            if int(_content(lock)) in ended:
                lock.unlink()


def _served(path: Path) -> bool:
    # A server that starts refuses connections between bind(2) and listen(2), but is listed.
    if any(line.endswith(f" {path}") for line in Path("/proc/net/unix").read_text().splitlines()):
        return True
    client = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        # connect(2) to a hung server with a full backlog would block.
        client.setblocking(False)
        client.connect(str(path))
    except ConnectionRefusedError:
        return False
    except OSError:
        return True
    finally:
        client.close()
    return True


def _content(lock: Path) -> bytes:
    # Every user can create such a name, also as a FIFO, which would block, or as a link.
    descriptor = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        return os.read(descriptor, 16)
    finally:
        os.close(descriptor)


def exit_code(status: int) -> int:
    """Return the exit code that a shell gives for a status: 128 + n after signal n."""
    return 128 - status if status < 0 else status


if __name__ == "__main__":
    sys.exit(exit_code(keep(sys.argv[1:])))
