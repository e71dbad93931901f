"""The process that forks desktops, which has loaded and warmed up what they need.

Its client is the launcher or, without one, the control plane; the channel is its only connection.
The client starts it in the background and uses it when its first message has come. Each request is
one desktop: the command line of its service, with descriptors for its socket, its three standard
files, and a pipe. The fork server forks the keeper, which forks the rest (`desktop.launch.keeper`),
and answers with the keeper's pid and a pidfd.

Invariants:

- A keeper begins when the client writes to the pipe, after it has received the answer. Without an
  answer the client closes the pipe, and nothing was started: no desktop can be started twice.
- It has one thread when it forks. Locks that another thread held would stay locked in the copies.
- What it has loaded is what the files contain: after an upgrade it refuses to fork, and ends.
- It holds no secret and no file of a desktop: received descriptors are closed after each fork.

When it ends, the keepers that it has forked continue. It ends when it refuses a request, and when
its client closes the channel.
"""

import gc
import os
import select
import signal
from contextlib import suppress
from pathlib import Path

from deskhand.desktop.agent_helper.worker import process as helper_process
from deskhand.desktop.launch import host_side, keeper
from deskhand.desktop.launch.channel import Channel, ChannelClosed, Message, adopted
from deskhand.desktop.launch.inside import helper_forks, init
from deskhand.desktop.launch.signals import SignalPipe
from deskhand.desktop.service import own_display, process
from deskhand.desktop.service.preload import package_paths, preload_all

from .child import become_keeper
from .loaded_files import LoadedFiles
from .process_title import ProcessTitle

LOADED = (helper_process, host_side, keeper, helper_forks, init, own_display, process)
"""What the processes of a desktop run: loaded here, and not used here."""

TITLE = ["deskhand-fork-server"]
DESCRIPTORS = 5
"""Listening socket, token, ready message, log, and the pipe that lets the keeper begin."""


def serve(channel: int) -> None:
    """Fork desktops on requests at the socket of this number, until it is closed."""
    # Those of the terminal are for the control plane, which ends desktops by requests.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    end = adopted(channel)
    signals = SignalPipe((signal.SIGCHLD,))
    preload_all()
    files = LoadedFiles.now(package_paths())
    title = ProcessTitle()
    title.set(TITLE)
    # A collection would write to every object, and each copy would need pages of its own.
    gc.collect()
    gc.freeze()
    server = DesktopForks(files, title)
    with suppress(ChannelClosed):
        end.send({})
        poll = select.poll()
        poll.register(end, select.POLLIN)
        poll.register(signals, select.POLLIN)
        while server.is_able:
            ready = {one for one, _ in poll.poll()}
            if signals.fileno() in ready:
                signals.take()
                reap()
            if end.fileno() in ready:
                _answer(server, end)


def _answer(server: "DesktopForks", end: Channel) -> None:
    request, descriptors = end.receive()
    try:
        answer, pidfd = server.fork(request, descriptors)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    end.send(answer, () if pidfd is None else (pidfd,))
    if pidfd is not None:
        os.close(pidfd)


class DesktopForks:
    """Forks keepers as long as a copy of this process is what an execution would start."""

    def __init__(self, files: LoadedFiles, title: ProcessTitle) -> None:
        self._files = files
        self._title = title
        self.is_able = True
        """False after a refusal: no later request can succeed."""

    def fork(self, request: Message, descriptors: list[int]) -> tuple[Message, int | None]:
        """Return the answer to a request, and the pidfd of the keeper if it was forked."""
        if refused := self._refused(descriptors):
            self.is_able = False
            return {"refused": refused}, None
        pid = os.fork()
        if pid == 0:
            become_keeper([str(one) for one in request["command"]], descriptors, self._title)
        # The process is not reaped before the next request is waited for.
        return {"pid": pid}, os.pidfd_open(pid)

    def _refused(self, descriptors: list[int]) -> str:
        threads = len(list(Path("/proc/self/task").iterdir()))
        if threads != 1:
            return f"the fork server has {threads} threads"
        if len(descriptors) != DESCRIPTORS:
            return f"{DESCRIPTORS} descriptors are needed, not {len(descriptors)}"
        changed = self._files.changed()
        return f"{changed} was changed after the fork server had loaded it" if changed else ""


def reap() -> None:
    """Wait for the keepers that have ended: until then each is a zombie."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
