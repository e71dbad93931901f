"""First message to the filter's process, with the listening socket and the table of processes."""

import json
import socket
from dataclasses import asdict, dataclass

from deskhand.desktop.x11.client_processes import ClientProcesses

_LONGEST = 4096


@dataclass(frozen=True)
class FilterStart:
    """Facts that the filter needs at its start."""

    server: str
    """Path of the X server's socket."""
    cookie: str
    """The trusted cookie, in hexadecimal digits."""
    users: tuple[int, ...]
    """Users that may be clients."""
    most: int
    """Clients that one of them may have at the same time."""


def send(
    service: socket.socket,
    start: FilterStart,
    listener: socket.socket,
    processes: ClientProcesses,
) -> None:
    """Send the message."""
    files = [listener.fileno(), processes.descriptor]
    socket.send_fds(service, [json.dumps(asdict(start)).encode()], files)


def received(service: socket.socket) -> tuple[FilterStart, socket.socket, ClientProcesses]:
    """Return the message, the listening socket and the table of the clients' processes.

    Raises:
        ConnectionError: If the service has ended.
    """
    data, descriptors, _, _ = socket.recv_fds(service, _LONGEST, 2)
    if not descriptors:
        raise ConnectionError("the service has ended")
    fields = json.loads(data)
    start = FilterStart(**{**fields, "users": tuple(fields["users"])})
    listener, table = descriptors
    return start, socket.socket(fileno=listener), ClientProcesses(table)
