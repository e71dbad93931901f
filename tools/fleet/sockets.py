"""Sockets of desktop services, bound by the control plane where no desktop's user reaches them."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOCKETS = "sockets"
"""Folder beside the desktops' directories."""

BACKLOG = 512
"""Connections that wait to be accepted, as in the desktop service's own sockets."""


class SocketFolder:
    """The folder of the sockets, which only its owner can enter."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def bound(self, desktop_id: str) -> Iterator[socket.socket]:
        """Yield a listening socket to pass to a service; this process closes its own afterwards.

        Raises:
            OSError: If it cannot be bound.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._folder.stat().st_uid != os.geteuid():
            raise PermissionError(f"{self._folder} belongs to another user")
        self.remove(desktop_id)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(self._path(desktop_id)))
            listening.listen(BACKLOG)
            yield listening

    def remove(self, desktop_id: str) -> None:
        """Remove the file of a socket; one that is missing is no error."""
        self._path(desktop_id).unlink(missing_ok=True)

    def _path(self, desktop_id: str) -> Path:
        return self._folder / f"{desktop_id}.sock"
