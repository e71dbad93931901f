"""The decoder process: forks a worker for each request and kills those that take too long.

The control plane forks this process before it has threads and before it serves. It decodes nothing
itself, and forks without exec, so that a worker has the libraries at once. It ends when the
control plane closes its end of the channel, and with the control plane. It has one thread.
"""

import gc
import importlib
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from . import confinement
from .messages import DecodeReply, DecodeRequest, read_request, reply_bytes

Perform = Callable[[DecodeRequest, Sequence[int]], DecodeReply]

LONGEST_REQUEST = 64 * 1024
MOST_FILES = 28
"""Descriptors of one request: the socket for the reply and files."""
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


class _Process:
    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._perform: Perform | None = None
        self._workers: dict[int, _Worker] = {}
        """The workers by their pidfds."""
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
        try:
            if not root:
                confinement.unshare(confinement.NEWUSER | confinement.NEWPID | shared)
                confinement.map_own_user(uid, gid)
                self._fork_again()
            else:
                confinement.unshare(shared)
            self._own_processes = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
            self._try_worker()
        except OSError as error:
            self._own_processes = -1
            self._namespaces = str(error)

    def _try_worker(self) -> None:
        """Raise ``OSError`` if a worker cannot get its empty root."""
        child = self._fork()
        if not child:
            status = 1
            try:
                confinement.empty_root("")
                status = 0
            finally:
                os._exit(status)
        if os.waitpid(child, 0)[1]:
            raise OSError("mounts are refused")

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
        worker = self._fork()
        if not worker:
            _work(self._perform, request, descriptors, confined=self._own_processes >= 0)
        pidfd = os.pidfd_open(worker)
        deadline = time.monotonic() + request.limits.seconds
        self._workers[pidfd] = _Worker(worker, deadline, descriptors[0])
        poll.register(pidfd, select.POLLIN)

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
        worker = self._workers.pop(pidfd)
        os.waitpid(worker.pid, 0)
        os.close(worker.reply)
        os.close(pidfd)

    def _kill(self, now: float) -> None:
        for pidfd, worker in self._workers.items():
            if worker.deadline <= now:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(pidfd, signal.SIGKILL)

    def _milliseconds(self) -> int | None:
        """Return the time to the next deadline; None without a worker."""
        if not self._workers:
            return None
        first = min(worker.deadline for worker in self._workers.values())
        return max(1, round((first - time.monotonic()) * 1000))


def _work(
    perform: Perform, request: DecodeRequest, descriptors: Sequence[int], *, confined: bool
) -> NoReturn:
    """Be a worker: take the rights away, do the work, send the reply."""
    status = 1
    try:
        confinement.end_with_parent()
        reply, files = _arrange(descriptors)
        is_root = os.geteuid() == 0
        confinement.limit(request.limits)
        if confined:
            confinement.empty_root(request.folder)
        elif request.folder:
            os.chdir(request.folder)
        confinement.drop_rights(confinement.WORKER_UID if is_root else None)
        # A worker that was taken over must not write into the control plane's log.
        os.dup2(0, 2)
        _send(reply, reply_bytes(perform(request, files)))
        status = 0
    except BaseException as error:  # noqa: BLE001 - the process ends here in any case
        with suppress(OSError):
            sys.stderr.write(f"deskhand: a decoder worker failed: {error!r}\n")
    finally:
        os._exit(status)


def _arrange(descriptors: Sequence[int]) -> tuple[int, list[int]]:
    """Keep only the standard descriptors, the socket for the reply and the files."""
    kept = list(descriptors)
    end = os.sysconf("SC_OPEN_MAX")
    begin = 3
    for descriptor in sorted(kept):
        os.closerange(begin, descriptor)
        begin = descriptor + 1
    os.closerange(begin, end)
    return kept[0], kept[1:]


def _send(reply: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(reply, rest) :]
