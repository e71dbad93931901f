"""Notifications of the service manager by a datagram, as sd_notify(3) describes."""

import os
import socket
from collections.abc import Mapping

VARIABLE = "NOTIFY_SOCKET"
READY, STOPPING = "READY=1", "STOPPING=1"


def notify(state: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Send a state such as ``READY=1``; return False if no service manager waits for any."""
    address = environment.get(VARIABLE, "")
    if not address.startswith(("/", "@")):
        return False
    # An abstract address (unix(7)) begins with a null byte.
    target = f"\0{address[1:]}" if address.startswith("@") else address
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.sendto(state.encode(), target)
    # The manager waits until its own timeout then; the service itself works.
    except OSError:
        return False
    return True
