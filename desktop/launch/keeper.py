"""Parent process of a desktop: it has root's rights, stays outside and cleans up.

The keeper imports the standard library only, so that its resident memory stays small for the
lifetime of the desktop. What is needed once is loaded by short-lived children.

Root's desktops have namespaces: the keeper forks `init`, which starts the service inside them. A
child of the keeper prepares meanwhile what needs the host's view (`host_side`). Other desktops have
the service as a direct child. In both cases the keeper is a child subreaper
(PR_SET_CHILD_SUBREAPER, prctl(2)): the kernel reparents every orphan outside of a PID namespace to
it, including daemons that forked twice and called setsid(2). Its states:

* *running*: SIGCHLD wakes the keeper, which reaps orphans and waits for its child.
* *ending*: after SIGTERM, SIGINT or SIGHUP the child gets SIGTERM and a grace period. When that
  is used up, it gets SIGKILL.
* *sweeping*: the child has ended, for whatever reason. Every remaining descendant is killed. Then
  the files are removed that the desktop leaves.

Invariant: when the keeper exits, no process that the service started is left, except, without
namespaces, those of another user (``sudo``).
"""

import _socket
import ctypes
import gc
import importlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from deskhand.desktop.programs.service_start import StartService, execute

from .channel import Channel, ChannelClosed, pair
from .host_channel import HostChannel
from .namespaces import rejoin, separate_children
from .separation import is_separated, listening_descriptors
from .signals import ENDING, SignalPipe

PR_SET_CHILD_SUBREAPER = 36
"""<linux/prctl.h>."""

KEEPER = "DESKHAND_KEEPER"
"""Variable with the keeper's pid: by it the service knows its keeper, and reports it as its own."""

# By default glibc raises the mmap threshold to the size of each mapped block that is freed
# (mallopt(3)), so that after the first freed picture it never returns such memory to the kernel.
LEAN = {"MALLOC_MMAP_THRESHOLD_": str(3_000_000), "MALLOC_TRIM_THRESHOLD_": str(8 << 20)}
"""Blocks of whole screens (3.1 MB for the encoder, 8.3 MB as captured) are mapped and returned to
the kernel; smaller ones, such as the 2.8 MB of a 1280x720 screenshot, stay in the heap."""

NAMESPACES = "DESKHAND_NAMESPACES"
"""Variable that is ``off`` to start a desktop without namespaces."""

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


def keep(
    command: list[str],
    grace_seconds: float = GRACE_SECONDS,
    start: StartService = execute,
) -> int:
    """Run the service until it ends; return its status as ``subprocess`` has it.

    ``grace_seconds`` is the processor time that the service has to end after a signal, ``start``
    starts its process.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signals = SignalPipe()
    # Values that the caller has set go before ours.
    environment = LEAN | dict(os.environ) | {KEEPER: str(os.getpid())}
    if is_separated(command, os.geteuid()):
        return _keep_separated(command, environment, signals, grace_seconds, start)
    service = start(command, environment, ())
    _close_sockets(command)
    end = _watch(service, signals, grace_seconds)
    remove_x_files(end.reaped | sweep(), end.user)
    return _reported(end)


def _keep_separated(
    command: list[str],
    environment: Mapping[str, str],
    signals: SignalPipe,
    grace_seconds: float,
    start: StartService,
) -> int:
    init, service, refused = _start_init(command, environment, start)
    _close_sockets(command)
    host = HostChannel(service, refused)
    end = _watch(init, signals, grace_seconds, host)
    reaped = end.reaped | sweep()
    user = host.clear(service_ended=0 <= end.code < 128)
    if refused and user is not None:
        remove_x_files(reaped, user)
    return _reported(end)


class _End(NamedTuple):
    """How the child ended."""

    code: int
    """As ``subprocess`` has it; init adds 128 to the number of a signal that ended the service."""
    user: int
    reaped: set[int]
    """All processes that were reaped with it."""
    requested: bool
    """True if the keeper was asked to end."""


def _reported(end: _End) -> int:
    """Write to the log why the service ended, if it could not do so itself; return its code."""
    number = -end.code if end.code < 0 else end.code - 128
    if number > 0 and not end.requested:
        name = signal.Signals(number).name if number in set(signal.Signals) else number
        os.write(2, f"deskhand: the desktop's service was ended by {name}\n".encode())
    return end.code


def _close_sockets(command: list[str]) -> None:
    # Only the service may hold them: clients of an ended service must be refused at once.
    for descriptor in listening_descriptors(command):
        os.close(descriptor)


def _start_init(
    command: list[str], environment: Mapping[str, str], start: StartService
) -> tuple[int, Channel, str]:
    """Start init; return its pid, the channel of its service, and why it has no namespaces."""
    refused = "DESKHAND_NAMESPACES is off" if os.environ.get(NAMESPACES) == "off" else ""
    if not refused:
        try:
            own = separate_children()
        except OSError as error:
            refused = str(error)
        else:
            try:
                init, channel, refused = _fork_init(command, environment, start, separated=True)
            finally:
                rejoin(own)
            if not refused:
                return init, channel, ""
            os.waitpid(init, 0)
    init, channel, _ = _fork_init(command, environment, start, separated=False)
    return init, channel, refused


def _fork_init(
    command: list[str], environment: Mapping[str, str], start: StartService, *, separated: bool
) -> tuple[int, Channel, str]:
    (started, report), (host, passed) = pair(), pair()
    # Loaded here, where both processes share it, but only for desktops that have an init.
    init = importlib.import_module("deskhand.desktop.launch.inside.init")
    # A collection would write to every object, and both processes would need pages of their own.
    gc.freeze()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            started.close()
            host.close()
            status = init.run(command, environment, report, passed, start, separated=separated)
        except BaseException:
            # Nothing else reports it: the keeper learns that init has ended, and not why.
            sys.excepthook(*sys.exc_info())
            raise
        finally:
            os._exit(status)
    report.close()
    passed.close()
    try:
        refused = str(started.receive()[0]["refused"])
    except ChannelClosed:
        refused = "init did not start"
    started.close()
    return pid, host, refused


def _watch(
    child: int,
    signals: SignalPipe,
    grace_seconds: float,
    host: HostChannel | None = None,
) -> _End:
    grace: GracePeriod | None = None
    requested = False
    poll = select.poll()
    poll.register(signals, select.POLLIN)
    if host is not None:
        host.register(poll)
    while True:
        user = _user(child)
        taken = signals.take()
        status, ended = _reap(child)
        if status is not None:
            return _End(os.waitstatus_to_exitcode(status), user, ended, requested)
        if taken & set(ENDING):
            requested = True
            os.kill(child, signal.SIGTERM)
            grace = GracePeriod(time.monotonic(), grace_seconds)
        elif grace is not None and grace.spent(time.monotonic(), _runnable(), os.cpu_count() or 1):
            os.kill(child, signal.SIGKILL)
            grace = None
        for descriptor, _ in poll.poll(None if grace is None else LOOK_SECONDS * 1000):
            if host is not None:
                host.answer(descriptor, poll)


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
            # That of a filtered display is a link to the socket.
            found = path.is_socket() or path.is_symlink()
            if found and path.lstat().st_uid == user and not _served(path):
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
    except (ConnectionRefusedError, FileNotFoundError):
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
