"""Forks helpers on request. It keeps root's rights, and reads nothing but the service's requests.

A request has no argument that a helper acts on: its user, its roots and its environment are fixed
by the first message, which the service sends while it has root's rights itself. Without threads a
fork has no lock that another thread holds.
"""

import os
import select
import signal
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress

from deskhand.desktop.agent_helper.wire.start_message import (
    END,
    ENDED,
    LONGEST,
    HelperStart,
)

Role = Callable[[socket.socket, HelperStart], None]


class ForkServer:
    """Answers requests from a sequenced-packet socket until the service closes it."""

    def __init__(
        self,
        control: socket.socket,
        roles: Mapping[str, Role],
        prepare: Callable[[HelperStart], None],
    ) -> None:
        """Have each child play the role of its request, with its socket and the first message.

        ``prepare`` is called with that message when it has come.
        """
        self._control = control
        self._roles = roles
        self._prepare = prepare
        self._start: HelperStart | None = None
        self._helpers: set[int] = set()

    def serve(self) -> None:
        """Answer until the service ends; then kill all helpers."""
        try:
            while answer := self._answered():
                self._control.send(answer.encode())
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            for pid in list(self._helpers):
                self._end(pid, 0.0)

    def _answered(self) -> str:
        data, descriptors, _, _ = socket.recv_fds(self._control, LONGEST, 1)
        if self._start is None:
            if not data:
                return ""
            self._start = HelperStart.parse(data)
            self._prepare(self._start)
            return str(os.getpid())
        words = data.decode().split()
        match words:
            case [word] if word in self._roles and descriptors:
                return str(self._fork(self._roles[word], descriptors[0], self._start))
            case [word, pid, seconds] if word == END:
                self._end(int(pid), float(seconds))
                return ENDED
        return ""

    def _fork(self, role: Role, descriptor: int, start: HelperStart) -> int:
        pid = os.fork()
        if pid == 0:
            self._play(role, descriptor, start)
        os.close(descriptor)
        self._helpers.add(pid)
        return pid

    def _play(self, role: Role, descriptor: int, start: HelperStart) -> None:
        try:
            self._control.close()
            with socket.socket(fileno=descriptor) as connection:
                connection.set_inheritable(False)
                role(connection, start)
            os._exit(0)
        finally:
            os._exit(1)

    def _end(self, pid: int, seconds: float) -> None:
        # Only children are known, so a pid that was reused cannot be meant.
        if pid not in self._helpers:
            return
        pidfd = os.pidfd_open(pid)
        try:
            if not select.select([pidfd], [], [], seconds)[0]:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            os.waitpid(pid, 0)
        finally:
            os.close(pidfd)
        self._helpers.discard(pid)
