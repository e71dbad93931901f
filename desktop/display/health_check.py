"""Notices an X server that runs and answers nobody any more, and ends it."""

import logging
import socket
import threading
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

logger = logging.getLogger(__name__)

# GetInputFocus, four bytes long: the cheapest request that has an answer. From the X protocol.
_REQUEST = b"\x2b\x00\x01\x00"
_ANSWER_BYTES = 32
_REPLY = 1


@dataclass(frozen=True)
class HealthCheckTimeouts:
    """How long what may take, in seconds."""

    every: float = 2.0
    """Between two questions."""
    silence: float = 3.0
    """Until a question without an answer is suspicious."""
    last: float = 5.0
    """Until a server under suspicion is ended, unless it greets a viewer."""


class Server(Protocol):
    """An X server with an RFB server in it."""

    def dial(self, timeout: float) -> socket.socket:
        """Open a connection to X; raises OSError."""

    def greets(self, timeout: float) -> bool:
        """Whether RFB answers: it does so even while an application has the server grabbed."""

    def kill(self) -> None:
        """End it as if it had crashed."""


class HealthCheck:
    """Asks an X server from time to time, in a thread, for as long as it is open."""

    def __init__(self, server: Server, patience: HealthCheckTimeouts | None = None) -> None:
        self._server = server
        self._patience = patience or HealthCheckTimeouts()
        self._line: socket.socket | None = None
        self._ending = threading.Event()
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
        """Stop asking; a question that is being asked is waited for. Twice is fine."""
        self._ending.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _watch(self) -> None:
        while not self._ending.wait(self._patience.every):
            if not (self._beats() or self._server.greets(self._patience.last)):
                logger.error("the X server answers nobody, and is ended")
                self._server.kill()
                break
        self._hang_up()

    def _beats(self) -> bool:
        try:
            if self._line is None:
                self._line = self._server.dial(self._patience.silence)
            self._line.settimeout(self._patience.silence)
            self._line.sendall(_REQUEST)
            # Other clients' changes of the keyboard are told to everybody, this one too.
            while _message(self._line) != _REPLY:
                pass
        except OSError:
            self._hang_up()
            return False
        return True

    def _hang_up(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            line.close()


def _message(line: socket.socket) -> int:
    """Read one answer or event, and return of which kind it is."""
    message = b""
    while len(message) < _ANSWER_BYTES:
        piece = line.recv(_ANSWER_BYTES - len(message))
        if not piece:
            raise ConnectionError("the X server hung up")
        message += piece
    return message[0]
