"""Detects an X server that runs but does not answer any more, and kills it.

An application that grabs the server (GrabServer) also stops it from answering other clients, for a
while. Xvnc serves RFB even then, hence a server counts as hung only if both X and RFB are silent.
"""

import logging
import socket
import threading
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from deskhand.desktop.x11.sockets import exactly

logger = logging.getLogger(__name__)

# GetInputFocus, four bytes long: the cheapest request with a reply (X11 protocol, encoding).
_REQUEST = b"\x2b\x00\x01\x00"
# Errors, events and replies without extra data have this length (X11 protocol, encoding).
_MESSAGE_BYTES = 32
_REPLY = 1


@dataclass(frozen=True)
class HealthCheckTimeouts:
    """Interval and timeouts of the checks, in seconds."""

    interval: float = 2.0
    """Pause between two requests."""
    reply: float = 3.0
    """Time for a reply; a server that exceeds it is suspected to hang."""
    rfb: float = 5.0
    """Time for a suspected server to send its RFB version before it is killed."""


class Server(Protocol):
    """An X server that also serves RFB."""

    def connect(self, timeout: float) -> socket.socket:
        """Connect to X; raises OSError."""

    def rfb_responds(self, timeout: float) -> bool:
        """Return True if RFB answers, as it does even while an application grabs the server."""

    def kill(self) -> None:
        """Kill the server; the supervisor treats the exit as a crash."""


class HealthCheck:
    """Checks an X server periodically, in a thread, while it is open."""

    def __init__(self, server: Server, timeouts: HealthCheckTimeouts | None = None) -> None:
        self._server = server
        self._timeouts = timeouts or HealthCheckTimeouts()
        self._socket: socket.socket | None = None
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="pulse", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop after the current check has ended; twice is fine."""
        self._closing.set()
        # A thread that was never started cannot be joined.
        if self._thread.ident is not None:
            self._thread.join()

    def _watch(self) -> None:
        while not self._closing.wait(self._timeouts.interval):
            if not (self._responds() or self._server.rfb_responds(self._timeouts.rfb)):
                logger.error("the X server does not answer, and is ended")
                self._server.kill()
                break
        self._disconnect()

    def _responds(self) -> bool:
        try:
            if self._socket is None:
                self._socket = self._server.connect(self._timeouts.reply)
            self._socket.settimeout(self._timeouts.reply)
            self._socket.sendall(_REQUEST)
            # The server sends MappingNotify events to every client, unrequested.
            while _message(self._socket) != _REPLY:
                pass
        except OSError:
            self._disconnect()
            return False
        return True

    def _disconnect(self) -> None:
        client, self._socket = self._socket, None
        if client is not None:
            client.close()


def _message(client: socket.socket) -> int:
    """Read one reply or event and return its type code."""
    return exactly(client, _MESSAGE_BYTES)[0]
