"""Stand over the desktop service and leave nothing behind when it ends, however it ends.

Run as ``python -S -E keeper.py COMMAND...``: the standard library only, so that it stays
small. As a child subreaper (prctl(2)) it inherits every orphan of the service, double ``setsid``
included, and kills them all once the service is gone.
"""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
"""<linux/prctl.h>."""

KEEPER = "DESKHAND_KEEPER"
"""Tells the service that its parent is a keeper: that one's pid is the service's to the world."""

# glibc mallopt(3): as soon as one picture was freed, it would keep the next ones' room for good.
LEAN = {"MALLOC_MMAP_THRESHOLD_": str(3_000_000), "MALLOC_TRIM_THRESHOLD_": str(8 << 20)}
"""The service gives the memory of whole screens back (3.1 MB for the encoder, 8.3 MB as they are),
and keeps that of smaller things: a screenshot of 1280x720 has 2.8 MB."""

GRACE_SECONDS = 5.0
"""How long the service may take to end after SIGTERM; product.md promises 5 s to the caller."""

LONGEST_SECONDS = 60.0
"""The same where others keep the processors busy: time it does not get is not charged to it."""

LOOK_SECONDS = 0.25


class Patience:
    """What is left of a service's time to end. Times are seconds on a monotonic clock."""

    def __init__(self, now: float, grace: float = GRACE_SECONDS) -> None:
        self._latest = now
        self._end = now + LONGEST_SECONDS
        self._left = grace

    def spent(self, now: float, runnable: int, processors: int) -> bool:
        """Charge the time since the last look, shared with all that want to run; is it over?"""
        self._left -= (now - self._latest) * processors / max(processors, runnable)
        self._latest = now
        return self._left <= 0.0 or now >= self._end


def keep(command: list[str], grace: float = GRACE_SECONDS) -> int:
    """Run the service until it ends; return the exit status to end with.

    ``grace`` is how many seconds the service may take to end after a signal.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wanted = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
    environment = LEAN | dict(os.environ) | {KEEPER: str(os.getpid())}
    service = os.posix_spawn(
        command[0], command, environment, setsigmask=[], setsigdef=[signal.SIGINT]
    )
    status = _watch(service, wanted, grace)
    sweep()
    return os.waitstatus_to_exitcode(status)


def _watch(service: int, wanted: set[signal.Signals], grace: float) -> int:
    patience: Patience | None = None
    while True:
        status = _reap(service)
        if status is not None:
            return status
        caught = signal.sigtimedwait(wanted, 3600.0 if patience is None else LOOK_SECONDS)
        if caught is not None and caught.si_signo != signal.SIGCHLD:
            os.kill(service, signal.SIGTERM)
            patience = Patience(time.monotonic(), grace)
        elif patience is not None and patience.spent(
            time.monotonic(), _runnable(), os.cpu_count() or 1
        ):
            os.kill(service, signal.SIGKILL)
            patience = None


def _runnable() -> int:
    """How many threads of the machine run or wait for a processor (proc(5), loadavg), but us."""
    return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0]) - 1


def _reap(service: int) -> int | None:
    """Reap what has ended; return the service's status if it is among them."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        if pid == service:
            found = status


def sweep(kill: Callable[[int, int], None] = os.kill) -> None:
    """Kill every descendant: each round turns grandchildren into children of ours.

    What works as another user, as ``sudo`` has it, is not ours to kill, and is not waited for.
    """
    while True:
        killed = [_killed(pid, kill) for pid in _children()]
        if not any(killed):
            return
        os.waitpid(-1, 0)


def _killed(pid: int, kill: Callable[[int, int], None]) -> bool:
    try:
        kill(pid, signal.SIGKILL)
    except PermissionError:
        return False
    return True


def _children() -> Iterator[int]:
    for task in Path("/proc/self/task").iterdir():
        yield from map(int, (task / "children").read_text().split())


def exit_code(status: int) -> int:
    """Return a shell's exit code for a status: 128+n for an ending signal."""
    return 128 - status if status < 0 else status


if __name__ == "__main__":
    sys.exit(exit_code(keep(sys.argv[1:])))
