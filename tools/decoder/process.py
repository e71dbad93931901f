"""The decoder process: forks a worker for each request and kills those that take too long.

The control plane forks this process before it has threads and before it serves. It decodes nothing
itself, and forks without exec, so that a worker has the libraries at once. After a request it
forks a spare worker for the next one. It ends when the control plane closes its end of the channel,
and with the control plane. It has one thread.
"""

import gc
import importlib
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from . import confinement
from .messages import DecodeRequest, read_request, request_bytes
from .worker import LONGEST_REQUEST, MOST_FILES, Perform, wait_and_work, work

SPARE_SECONDS = 60.0
"""Time without a request after which the spare worker ends, and returns its memory."""
CHANNEL = 3
WORK = "deskhand.tools.decoder.work"
READY = b"ready"


def run(channel: int) -> NoReturn:
    """Be the decoder process until the channel is closed; called right after the fork."""
    status = 1
    try:
        _leave_parent(channel)
        _Process(socket.socket(fileno=CHANNEL)).serve()
        status = 0
    finally:
        # The stack below belongs to the control plane, which must not be unwound here.
        os._exit(status)


def _leave_parent(channel: int) -> None:
    """Drop what the fork has inherited: descriptors, signal handlers, objects to collect."""
    confinement.end_with_parent()
    with suppress(ValueError):
        signal.set_wakeup_fd(-1)
    # Ctrl-C reaches all processes of a terminal, and requests may still be in work.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(null, standard)
    if channel != CHANNEL:
        os.dup2(channel, CHANNEL, inheritable=False)
    os.closerange(CHANNEL + 1, os.sysconf("SC_OPEN_MAX"))
    # A collection would write to the pages that are shared with the control plane.
    gc.disable()


@dataclass(frozen=True)
class _Worker:
    pid: int
    deadline: float
    reply: int
    """Held until the worker is dead: the control plane must not trust files of a live one."""


@dataclass(frozen=True)
class _Spare:
    pid: int
    pidfd: int
    channel: socket.socket
    deadline: float


class _Process:
    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._perform: Perform | None = None
        self._workers: dict[int, _Worker] = {}
        """The workers by their pidfds."""
        self._spare: _Spare | None = None
        self._namespaces = ""
        self._own_processes = -1

    def serve(self) -> None:
        """Answer requests until the channel is closed."""
        self._isolate()
        self._channel.send(READY + self._namespaces.encode())
        poll = select.poll()
        poll.register(self._channel, select.POLLIN)
        is_open = True
        while is_open:
            for descriptor, _ in poll.poll(self._milliseconds()):
                if descriptor == self._channel.fileno():
                    is_open = self._receive(poll)
                else:
                    poll.unregister(descriptor)
                    self._reap(descriptor)
            self._kill(time.monotonic())
        self._kill(float("inf"))

    def _isolate(self) -> None:
        """Enter the namespaces that all workers share, which nothing else is in."""
        root = os.geteuid() == 0
        uid, gid = os.geteuid(), os.getegid()
        shared = confinement.NEWNET | confinement.NEWIPC | confinement.NEWUTS
        own = confinement.NEWUSER | confinement.NEWPID | confinement.NEWNS | shared
        try:
            if not root:
                # A process that has entered some of the namespaces could not fork any more.
                self._try(lambda: _enter_own(own, uid, gid))
                _enter_own(own, uid, gid)
                self._fork_again()
            else:
                confinement.unshare(shared)
            self._own_processes = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
            self._try(lambda: confinement.empty_root(""), self._fork)
        except OSError as error:
            self._own_processes = -1
            self._namespaces = str(error)

    def _try(self, step: Callable[[], None], fork: Callable[[], int] = os.fork) -> None:
        """Raise ``OSError`` if a child cannot do a step."""
        read, written = os.pipe()
        child = fork()
        if not child:
            try:
                step()
            except OSError as error:
                os.write(written, str(error).encode())
            finally:
                os._exit(0)
        os.close(written)
        with os.fdopen(read) as result:
            refused = result.read()
        if os.waitpid(child, 0)[1] or refused:
            raise OSError(refused or "a process without rights cannot be prepared")

    def _fork_again(self) -> None:
        """Continue in a child: a namespace of processes contains only those that are forked."""
        child = os.fork()
        if child:
            self._channel.close()
            os.waitpid(child, 0)
            os._exit(0)
        confinement.end_with_parent()

    def _receive(self, poll: "select.poll") -> bool:
        data, descriptors, _, _ = socket.recv_fds(self._channel, LONGEST_REQUEST, MOST_FILES)
        if not data:
            return False
        try:
            self._start(read_request(data), descriptors, poll)
        finally:
            for descriptor in descriptors[1:]:
                os.close(descriptor)
        return True

    def _start(
        self, request: DecodeRequest, descriptors: Sequence[int], poll: "select.poll"
    ) -> None:
        if self._perform is None:
            # One thread less to fork beside; the pictures are small.
            os.environ["OPENBLAS_NUM_THREADS"] = "1"
            self._perform = importlib.import_module(WORK).perform
            gc.collect()
            gc.freeze()
        taken = self._taken(request, descriptors)
        if taken is None:
            worker = self._fork()
            if not worker:
                work(self._perform, request, descriptors, confined=self._is_confined)
            pidfd = os.pidfd_open(worker)
            poll.register(pidfd, select.POLLIN)
        else:
            worker, pidfd = taken.pid, taken.pidfd
        deadline = time.monotonic() + request.limits.seconds
        self._workers[pidfd] = _Worker(worker, deadline, descriptors[0])
        if self._spare is None:
            self._prepare_spare(self._perform, poll)

    def _taken(self, request: DecodeRequest, descriptors: Sequence[int]) -> _Spare | None:
        """Give the request to the spare worker and return it; None if it cannot have it."""
        spare, folder = self._spare, -1
        if spare is None:
            return None
        try:
            if request.folder:
                folder = confinement.opened_alone(request.folder, clone=self._is_confined)
            passed = [*descriptors, folder] if folder >= 0 else descriptors
            socket.send_fds(spare.channel, [request_bytes(request)], passed)
        except OSError:
            # The worker has ended, or the kernel refuses to show it the folder.
            return None
        finally:
            if folder >= 0:
                os.close(folder)
        spare.channel.close()
        self._spare = None
        return spare

    def _prepare_spare(self, perform: Perform, poll: "select.poll") -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            worker = self._fork()
            if not worker:
                wait_and_work(perform, theirs.fileno(), confined=self._is_confined)
        pidfd = os.pidfd_open(worker)
        poll.register(pidfd, select.POLLIN)
        self._spare = _Spare(worker, pidfd, ours, time.monotonic() + SPARE_SECONDS)

    @property
    def _is_confined(self) -> bool:
        return self._own_processes >= 0

    def _fork(self) -> int:
        if self._own_processes < 0:
            return os.fork()
        confinement.unshare(confinement.NEWPID)
        child = os.fork()
        if child:
            # Without it, the next fork would fail when the first worker, PID 1 of the namespace,
            # has ended.
            confinement.enter(self._own_processes, confinement.NEWPID)
        return child

    def _reap(self, pidfd: int) -> None:
        if self._spare is not None and pidfd == self._spare.pidfd:
            os.waitpid(self._spare.pid, 0)
            self._spare.channel.close()
            self._spare = None
        else:
            worker = self._workers.pop(pidfd)
            os.waitpid(worker.pid, 0)
            os.close(worker.reply)
        os.close(pidfd)

    def _kill(self, now: float) -> None:
        if self._spare is not None and self._spare.deadline <= now:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._spare.pidfd, signal.SIGKILL)
        for pidfd, worker in self._workers.items():
            if worker.deadline <= now:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(pidfd, signal.SIGKILL)

    def _milliseconds(self) -> int | None:
        """Return the time to the next deadline; None without a worker."""
        deadlines = [worker.deadline for worker in self._workers.values()]
        if self._spare is not None:
            deadlines.append(self._spare.deadline)
        if not deadlines:
            return None
        first = min(deadlines)
        return max(1, round((first - time.monotonic()) * 1000))


def _enter_own(namespaces: int, uid: int, gid: int) -> None:
    confinement.unshare(namespaces)
    confinement.map_own_user(uid, gid)
