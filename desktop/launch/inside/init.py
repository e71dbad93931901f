"""First process inside a desktop: PID 1 of its namespace, or an ordinary child without one.

The keeper forks it, and it has the keeper's rights. It mounts what the desktop sees, starts the
service and reaps every process that lost its parent. It ends with the service, and then the kernel
kills the rest of the namespace (pid_namespaces(7)). When the keeper dies, the kernel kills this
process, and with it the namespace.
"""

import gc
import importlib
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from deskhand.desktop.isolation.user_processes import user_pids
from deskhand.desktop.launch.channel import CHANNELS, Channel, ChannelClosed, Message, pair
from deskhand.desktop.launch.desktop_group import CpuShare, DesktopGroup
from deskhand.desktop.launch.limits import DesktopLimits
from deskhand.desktop.launch.mount_plan import DesktopView, NotExecutable, mounts, not_executable
from deskhand.desktop.launch.namespaces import end_with_parent, perform, separate
from deskhand.desktop.launch.separation import listening_descriptors
from deskhand.desktop.launch.signals import SignalPipe
from deskhand.desktop.programs.service_start import StartService

from .execution import close_all_except
from .kept_programs import KeptPrograms
from .memory_watch import INTERVAL, MemoryWatch, namespace_pids, with_descendants
from .programs import Groups, Programs, fork

IDLE_MS = 10.0
"""Time without a request after which the next program is prepared."""


def run(
    command: list[str],
    environment: Mapping[str, str],
    keeper: Channel,
    passed: Channel,
    start: StartService,
    *,
    separated: bool,
) -> int:
    """Start the service and return its exit code, 128 + n after signal n.

    ``keeper`` gets one message when the service starts, whose process ``start`` starts. ``passed``
    is the service's channel to the keeper. With ``separated`` this process is the first of a PID
    namespace.
    """
    end_with_parent(signal.SIGKILL)
    signals = SignalPipe()
    reason = _separated() if separated else ""
    try:
        # Fails if the keeper died before its end could be watched.
        keeper.send({"refused": reason})
    except ChannelClosed:
        return 1
    if reason:
        return 1
    own, service_end = pair()
    helpers, helpers_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    given = (passed.fileno(), service_end.fileno(), helpers_end.fileno())
    service = start(command, {**environment, CHANNELS: ",".join(map(str, given))}, given)
    for end in (passed, service_end, helpers_end):
        end.close()
    for descriptor in listening_descriptors(command):
        os.close(descriptor)
    # As in the keeper, for the processes that are forked here.
    gc.freeze()
    fork(lambda: _serve_helpers(helpers.fileno(), service))
    helpers.close()
    return Init(service, signals, own, separated=separated).wait()


def _separated() -> str:
    """Enter the namespaces; return the reason if the kernel refuses."""
    try:
        separate()
    except OSError as error:
        return str(error)
    return ""


def _serve_helpers(control: int, service: int) -> None:
    close_all_except({0, 1, 2, control})
    # Loaded late: init does not need what helpers do.
    forks = importlib.import_module("deskhand.desktop.launch.inside.helper_forks")
    forks.serve(control, service)


class Init:
    """Waits for the service, and does what needs root's rights inside the desktop.

    A request is answered with one message, or with none if it is a signal. The service sends
    ``users`` as the last request that needs its own root's rights; from then on only programs of
    these users can be started, and nothing of the desktop can be changed.
    """

    def __init__(
        self, service: int, signals: SignalPipe, channel: Channel, *, separated: bool
    ) -> None:
        self._service = service
        self._signals = signals
        self._channel = channel
        self._separated = separated
        self._memory: MemoryWatch | None = None
        self._check_at = 0.0
        """Time of the next check of the memory: starts of programs must not wait for more."""
        self._programs = Programs()
        self._not_executable: NotExecutable | None = None
        self._kept = KeptPrograms()
        self._requests: Mapping[str, Callable[[Message, Sequence[int]], Message | None]] = {
            "limit": self._limit,
            "view": self._view,
            "users": self._users,
            "keep": lambda request, files: self._kept.add(request, files, self._service),
            "forget": lambda _request, _files: self._kept.forget(),
        }

    def wait(self) -> int:
        """Serve requests until the service has ended; return its exit code."""
        poll = select.poll()
        poll.register(self._signals, select.POLLIN)
        poll.register(self._channel, select.POLLIN)
        while True:
            due = self._kept.start_due()
            ready = {descriptor for descriptor, _ in poll.poll(self._timeout(due))}
            if not ready and self._programs.unprepared:
                with suppress(OSError):
                    self._programs.prepare()
            if self._memory is not None and time.monotonic() >= self._check_at:
                self._memory.check()
                self._check_at = time.monotonic() + INTERVAL
            if self._signals.fileno() in ready:
                taken = self._signals.take()
                status = self._reap()
                if status is not None:
                    return status
                if signal.SIGTERM in taken:
                    os.kill(self._service, signal.SIGTERM)
            if self._channel.fileno() in ready and not self._answer():
                # The service is ending, and its exit comes as a signal.
                poll.unregister(self._channel)

    def _timeout(self, due: float | None) -> float | None:
        """Return how long to wait for a request, in milliseconds.

        ``due`` are the seconds until a kept program must be started.
        """
        waits = [IDLE_MS] if self._programs.unprepared else []
        if self._memory is not None:
            waits.append(_milliseconds(self._check_at - time.monotonic()))
        if due is not None:
            waits.append(_milliseconds(due))
        return min(waits, default=None)

    def _reap(self) -> int | None:
        """Reap all processes that have ended; return the service's exit code if it has."""
        found = None
        while True:
            try:
                # WNOWAIT leaves the process a zombie: its pid and its group are not reused yet.
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return found
            if ended is None:
                return found
            self._programs.ending(ended.si_pid)
            pid, status = os.waitpid(ended.si_pid, 0)
            code = os.waitstatus_to_exitcode(status)
            self._programs.ended(pid, code)
            self._kept.ended(pid)
            if pid == self._service:
                found = 128 - code if code < 0 else code

    def _answer(self) -> bool:
        try:
            request, descriptors = self._channel.receive()
            try:
                answer = self._requests[str(request["do"])](request, descriptors)
            except OSError as error:
                answer = {"error": str(error), "errno": error.errno}
            except KeyError as error:
                answer = {"error": f"init does not know {error}"}
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)
            if answer is not None:
                self._channel.send(answer)
        except ChannelClosed:
            return False
        return True

    def _limit(self, request: Message, _: Sequence[int]) -> Message:
        """Limit the desktop by a control group, or by watching its memory; return why not by one.

        The number of processes is limited by RLIMIT_NPROC then, which the service sets.
        """
        limits, instance = DesktopLimits(**request["limits"]), str(request["instance"])
        group, owner = DesktopGroup(instance), int(request["owner"])
        # The service is not alone: there is the fork server of agent helpers.
        own = os.getpid()
        members = (own, *namespace_pids()) if self._separated else with_descendants(own)
        refused = group.make(limits, members, owner)
        if refused:
            group = DesktopGroup(instance, controllers=())
            if CpuShare(instance).make(limits.cpu_weight, members):
                refused += "; cgroup v1 gives it its share of the processors"
            users = tuple(map(int, request["users"]))
            listed = namespace_pids if self._separated else lambda: user_pids(*users)
            self._memory = MemoryWatch(limits.memory_bytes, listed, self._service)
            if ungrouped := group.make(limits, members, owner):
                # Commands are stopped one by one then.
                return {"refused": refused, "ungrouped": ungrouped}
        paths = str(group.commands), str(group.services)
        self._programs.groups = Groups(*paths, entered=bool(refused))
        return {"refused": refused, "group": str(group.path)}

    def _view(self, request: Message, _: Sequence[int]) -> Message:
        if self._separated:
            view = DesktopView(**{name: one for name, one in request.items() if name != "do"})
            perform(mounts(view), x_group=view.x_group)
            self._not_executable = not_executable(view)
        return {}

    def _users(self, request: Message, _: Sequence[int]) -> Message:
        """Fix the users of programs, which are started in the namespaces of the service."""
        self._programs.fix_users(request["users"], self._service, self._not_executable)
        self._requests = {
            "start": self._programs.start,
            "signal": self._programs.signal,
            "control": self._programs.control,
            "forget": lambda _request, _files: self._kept.forget(),
        }
        return {}


def _milliseconds(seconds: float) -> int:
    # Rounded up: poll(2) counts milliseconds, and would return too early for the start.
    return int(max(seconds, 0.0) * 1000) + 1
