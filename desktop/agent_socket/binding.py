"""Path and permissions of the agent's socket."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from deskhand.desktop.isolation.account import Account

AGENT_SOCKET = Path("run/agent.sock")
"""Name in the directory of the desktop."""

MODE = 0o660
_BACKLOG = 64


@contextmanager
def agent_socket(folder: Path, account: Account) -> Iterator[socket.socket]:
    """Yield the listening socket of a desktop; its service and the group of the agent may connect.

    Raises:
        OSError: If it cannot be bound.
    """
    path = folder / AGENT_SOCKET
    with socket.socket(socket.AF_UNIX) as bound:
        path.unlink(missing_ok=True)
        # The mode applies from the beginning: others cannot connect before chmod(2).
        before = os.umask(0o777 & ~MODE)
        try:
            bound.bind(str(path))
        finally:
            os.umask(before)
        try:
            os.chown(path, account.service.uid, account.agent.gid, follow_symlinks=False)
            bound.listen(_BACKLOG)
            yield bound
        finally:
            # The user of the service may not be permitted to; the directory is removed later.
            with suppress(OSError):
                path.unlink()
