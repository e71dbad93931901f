"""Socket of a display whose X server starts when its first client connects.

Until then the desktop service listens on it. The first connection is reported, and waits in the
backlog of the socket while the X server starts. The X server replaces the socket by its own,
unlink(2) and bind(2), which leaves the connections of the earlier one intact. They are then relayed
to the X server, with the descriptors that they pass. Only the clients that came before the X server
was ready are relayed; all others connect to it directly.
"""

import logging
import os
import socket
import threading
from collections.abc import Callable, Collection
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from deskhand.desktop.x11.sockets import (
    await_client,
    end_listening,
    exactly,
    listening,
    peer_of,
)
from deskhand.desktop.x11.x_setup import HEAD_BYTES, presented, setup_bytes, with_cookie

_BACKLOG = 64
_CHUNK = 65_536
_MOST_DESCRIPTORS = 16
"""Of one message; X clients pass one or two (DRI3, MIT-SHM)."""

logger = logging.getLogger(__name__)


class DeferredSocket:
    """Listens at ``path`` while it is open and there is no X server.

    ``used`` is called once, in a thread, when a client connects. Clients of other users than
    ``users`` are not relayed. Those of ``trusted_user`` need no cookie.
    """

    def __init__(
        self,
        path: Path,
        used: Callable[[], None],
        users: Collection[int],
        trusted_user: int | None = None,
    ) -> None:
        self._path = path
        self._used = used
        self._users = users
        self._trusted_user = trusted_user
        self._listener: socket.socket | None = None
        self._relayed: list[socket.socket] = []

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def number(self) -> int:
        """Number of the display."""
        return int(self._path.name.removeprefix("X"))

    def open(self) -> None:
        """Listen, in a thread.

        Raises:
            OSError: If the path exists.
        """
        # Every user may connect, as to the socket of an X server.
        listener = self._listener = listening(self._path, 0o777, _BACKLOG)
        # The descriptor of a closed socket may soon be that of another file.
        wait = (listener, listener.dup())
        threading.Thread(target=self._wait, args=wait, name="x-clients", daemon=True).start()

    def hand_over(self, cookie: bytes, trusted: bytes = b"") -> None:
        """Relay the clients that have connected so far to the X server; a second call does nothing.

        A client that presents the ``trusted`` cookie keeps it, and those of the trusted user are
        presented with it. All others are presented with ``cookie``, as they may have come before it
        was written.
        """
        listener, self._listener = self._listener, None
        if listener is None:
            return
        with suppress(BlockingIOError):
            listener.setblocking(False)
            while True:
                client, _ = listener.accept()
                client.setblocking(True)
                user = peer_of(client).user
                if user in self._users:
                    # The X server would see the user of this process.
                    by_user = bool(trusted) and user == self._trusted_user
                    self._relay(client, trusted if by_user else cookie, trusted)
                else:
                    client.close()
        end_listening(listener)

    def close(self) -> None:
        """Stop listening; relayed clients are disconnected. Twice is fine."""
        listener, self._listener = self._listener, None
        if listener is not None:
            end_listening(listener)
            self._path.unlink(missing_ok=True)
        for end in self._relayed:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _wait(self, listener: socket.socket, same: socket.socket) -> None:
        with same:
            await_client(same)
        if self._listener is listener:
            self._used()

    def _relay(self, client: socket.socket, cookie: bytes, trusted: bytes) -> None:
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(str(self._path))
        except OSError as error:
            logger.warning("an early client of the display is dropped: %s", error)
            server.close()
            client.close()
            return
        self._relayed += [client, server]
        work = (client, server, cookie, trusted)
        threading.Thread(target=_serve, args=work, name="x-relay", daemon=True).start()


def _serve(client: socket.socket, server: socket.socket, cookie: bytes, trusted: bytes) -> None:
    with client, server:
        back = threading.Thread(target=_copy, args=(server, client), name="x-relay", daemon=True)
        back.start()
        with suppress(OSError, ValueError):
            head = exactly(client, HEAD_BYTES)
            rest = exactly(client, setup_bytes(head) - HEAD_BYTES)
            shown = presented(head, rest)
            server.sendall(with_cookie(head, shown if trusted and shown == trusted else cookie))
            _copy(client, server)
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while True:
            data, descriptors, _, _ = socket.recv_fds(source, _CHUNK, _MOST_DESCRIPTORS)
            if not data:
                break
            with ExitStack() as received:
                for descriptor in descriptors:
                    received.callback(os.close, descriptor)
                sent = socket.send_fds(target, [data], descriptors) if descriptors else 0
                target.sendall(data[sent:])
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
