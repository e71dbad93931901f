"""The filter of the agent's X clients, and the two sockets of a filtered display.

Clients of the agent connect to the display whose number their environment has, where the filter
listens (`deskhand.desktop.x_filter`). The X server listens at a second display, which the service
and the browser's user reach and the agent's does not: its socket is in a directory that the agent
cannot enter. libxcb finds it by a link in the directory of X sockets.
"""

import logging
import socket
import threading
import time
from collections.abc import Callable, Collection
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from deskhand.desktop.agent_helper.launch import HelperProcess
from deskhand.desktop.agent_helper.restarts import pause
from deskhand.desktop.errors import DisplayGone
from deskhand.desktop.x11.client_processes import ClientProcesses
from deskhand.desktop.x11.server_files import X_SOCKETS
from deskhand.desktop.x11.sockets import await_client, end_listening, listening
from deskhand.desktop.x_filter.start_message import FilterStart, send

MOST_CLIENTS = 128
"""Of one user; an X server has 256 by default, among them those of the service and of people."""
_BACKLOG = 128
_END_SECONDS = 2.0
_FOR_ALL, _FOR_GROUP = 0o777, 0o660

logger = logging.getLogger(__name__)


class StartsFilters(Protocol):
    """Starts filters as the service's user."""

    def start_filter(self) -> HelperProcess:
        """Start one, which waits for its first message; raises OSError."""


@dataclass(frozen=True)
class FilteredDisplay:
    """Numbers of the two displays, and how filters are started."""

    number: int
    """Display of the agent's clients."""
    trusted: int
    """Display of the X server."""
    folder: Path
    """Directory of the X server's socket: the agent's user cannot enter it."""
    users: Collection[int]
    forks: StartsFilters

    @property
    def server_socket(self) -> Path:
        """Socket of the X server."""
        return self.folder / "x11.sock"


class DisplaySockets:
    """Listening sockets of a filtered display, while this is open.

    The one of the agent's clients stays: they wait while the X server starts again. Each X server
    has one of its own, which ends with it, so that the service notices.
    """

    def __init__(self, display: FilteredDisplay) -> None:
        self.display = display
        self._listening: socket.socket | None = None

    def __enter__(self) -> Self:
        """Listen.

        Raises:
            OSError: If a socket cannot be made.
        """
        with ExitStack() as stack:
            stack.callback(self.close)
            own = X_SOCKETS / f"X{self.display.number}"
            own.unlink(missing_ok=True)
            self._listening = listening(own, _FOR_ALL, _BACKLOG)
            link = X_SOCKETS / f"X{self.display.trusted}"
            link.unlink(missing_ok=True)
            link.symlink_to(self.display.server_socket)
            stack.pop_all()
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
        """Number of the display of the agent's clients."""
        return self.display.number

    @property
    def of_agent(self) -> socket.socket:
        """The socket of the agent's clients.

        Raises:
            DisplayGone: If this is closed.
        """
        if self._listening is None:
            raise DisplayGone(f":{self.number}", "closed")
        return self._listening

    def of_server(self) -> socket.socket:
        """Return a listening socket for the next X server; the caller closes it.

        Raises:
            OSError: If it cannot be made.
        """
        self.display.server_socket.unlink(missing_ok=True)
        return listening(self.display.server_socket, _FOR_GROUP, _BACKLOG)

    def await_client(self, used: Callable[[], None]) -> None:
        """Call ``used`` in a thread when the first client of the agent connects."""
        work = (self.of_agent.dup(), used)
        threading.Thread(target=self._wait, args=work, name="x-clients", daemon=True).start()

    def close(self) -> None:
        """Stop listening; twice is fine."""
        listener, self._listening = self._listening, None
        if listener is not None:
            end_listening(listener)
        for name in (self.display.number, self.display.trusted):
            (X_SOCKETS / f"X{name}").unlink(missing_ok=True)
        self.display.server_socket.unlink(missing_ok=True)

    def _wait(self, waiting: socket.socket, used: Callable[[], None]) -> None:
        with waiting:
            await_client(waiting)
        if self._listening is not None:
            used()


class AgentFilter:
    """Runs the filter while it is open, and starts it again when it ends by itself."""

    def __init__(self, sockets: DisplaySockets, cookie: bytes) -> None:
        display = sockets.display
        self._sockets = sockets
        self._start = FilterStart(
            *(str(display.server_socket), cookie.hex(), tuple(display.users), MOST_CLIENTS)
        )
        self.processes = ClientProcesses.empty()
        """Processes of the clients, as the filter notes them; until this is closed."""
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._helper: HelperProcess | None = None
        self._thread = threading.Thread(target=self._keep, name="x-filter", daemon=True)

    def __enter__(self) -> Self:
        """Start it.

        Raises:
            OSError: If it cannot be started.
        """
        try:
            self._helper = self._started()
        except BaseException:
            self.processes.close()
            raise
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """End it, and the connections of all its clients."""
        with self._lock:
            self._closing.set()
            if self._helper is not None:
                with suppress(OSError):
                    self._helper.connection.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self.processes.close()

    def _started(self) -> HelperProcess:
        listener = self._sockets.of_agent
        helper = self._sockets.display.forks.start_filter()
        # Those of the last filter have ended with it.
        self.processes.clear()
        send(helper.connection, self._start, listener, self.processes)
        return helper

    def _keep(self) -> None:
        ends: list[float] = []
        while not self._closing.is_set():
            self._await_end()
            if self._closing.is_set():
                break
            ends.append(time.monotonic())
            logger.warning("the filter of X clients has ended, and is started again")
            if self._closing.wait(pause(ends, ends[-1])):
                break
            with self._lock, suppress(OSError, DisplayGone):
                if not self._closing.is_set():
                    self._helper = self._started()

    def _await_end(self) -> None:
        helper = self._helper
        if helper is None:
            return
        with suppress(OSError):
            # It sends nothing: this ends with it.
            helper.connection.recv(1)
        with self._lock:
            self._helper = None
            helper.connection.close()
        helper.end(_END_SECONDS)
