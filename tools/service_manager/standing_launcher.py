"""`deskhand launcher`: the launcher as a unit of its own, with root, for a control plane without.

It listens on a unix socket of sequenced packets. For each connection it starts the process of a
launcher, as a control plane of root does, and waits for its end: one control plane at a time has
one. Who connects is checked by SO_PEERCRED (unix(7)): it must be the user of the control plane.
The configuration comes from the settings that both units read, never from the connection.

The desktops are in the control group of this unit. ``KillMode=process`` keeps them when it is
restarted, and ``Delegate=yes`` leaves the group's hierarchy to them.
"""

import os
import signal
import socket
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from deskhand.tools.control_plane.process_user import ProcessUser
from deskhand.tools.fleet.launcher_client import start_launcher
from deskhand.tools.launcher.launcher import LauncherConfiguration

from .notification import READY, notify

_CREDENTIALS = struct.Struct("3i")
"""struct ucred: pid, uid, gid."""


class EndRequested(Exception):
    """The service manager has requested the end."""


def serve(
    path: Path,
    user: ProcessUser,
    configuration: LauncherConfiguration,
    environment: Mapping[str, str],
    ready: Callable[[], object] = lambda: notify(READY),
) -> None:
    """Start a launcher for each control plane that connects, until SIGTERM.

    Raises:
        OSError: If the address is taken or not permitted.
    """
    # The signal may come at any moment from the installation of its handler on.
    with _listening(path, user) as listener, suppress(EndRequested), _ending():
        ready()
        while True:
            end, _ = listener.accept()
            with end:
                if _peer_uid(end) != user.uid:
                    continue
                process = start_launcher(end, configuration, environment)
            # The process has its own copy of the connection, whose end it waits for.
            process.wait()


@contextmanager
def _listening(path: Path, user: ProcessUser) -> Iterator[socket.socket]:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC)
    with listener:
        path.unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            listener.bind(str(path))
        finally:
            os.umask(before)
        os.chown(path, user.uid, user.gid)
        listener.listen(1)
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def _ending() -> Iterator[None]:
    def end(*_: object) -> None:
        raise EndRequested

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _peer_uid(end: socket.socket) -> int:
    found = end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    uid: int = _CREDENTIALS.unpack(found)[1]
    return uid
