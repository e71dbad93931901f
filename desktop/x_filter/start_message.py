"""First message to the filter's process, which comes with the listening socket."""

import json
import socket
from dataclasses import asdict, dataclass

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


def send(service: socket.socket, start: FilterStart, listener: socket.socket) -> None:
    """Send the message."""
    socket.send_fds(service, [json.dumps(asdict(start)).encode()], [listener.fileno()])


def received(service: socket.socket) -> tuple[FilterStart, socket.socket]:
    """Return the message and the listening socket.

    Raises:
        ConnectionError: If the service has ended.
    """
    data, descriptors, _, _ = socket.recv_fds(service, _LONGEST, 1)
    if not descriptors:
        raise ConnectionError("the service has ended")
    fields = json.loads(data)
    start = FilterStart(**{**fields, "users": tuple(fields["users"])})
    return start, socket.socket(fileno=descriptors[0])
