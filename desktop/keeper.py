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

Invariant: when the keeper exits, no process that the service started is left, except those of
another user (``sudo``).
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
    status = _watch(service, wanted, grace_seconds)
    sweep()
    return os.waitstatus_to_exitcode(status)


def _watch(service: int, wanted: set[signal.Signals], grace_seconds: float) -> int:
    grace: GracePeriod | None = None
    while True:
        status = _reap(service)
        if status is not None:
            return status
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


def _reap(service: int) -> int | None:
    """Reap all children that have ended; return the service's wait status if it is one of them."""
    # SIGCHLD is not queued: one signal may stand for several children (signal(7)).
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
    """Kill every descendant: the kernel reparents grandchildren to the keeper in each round.

    A process of another user, as ``sudo`` starts one, cannot be killed and is not waited for.
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
    """Return the exit code that a shell gives for a status: 128 + n after signal n."""
    return 128 - status if status < 0 else status


if __name__ == "__main__":
    sys.exit(exit_code(keep(sys.argv[1:])))
