"""TCP connections with the agent's user and from its network, for the service.

The rules of the egress see them as those of a command: the user, the namespace and the resolver of
names are those of this process.
"""

import socket
import time

SECONDS = 10.0
"""Time to connect, of all addresses of a name together."""
FIRST_SECONDS = 4.0
"""Time for an address that is not the last one."""


def connected(host: str, port: int) -> socket.socket:
    """Connect to the first address of a name that answers.

    Raises:
        OSError: If none does.
    """
    end = time.monotonic() + SECONDS
    # As bytes: a text would load the codec of international names, which the agent's user may be
    # unable to read.
    found = socket.getaddrinfo(host.encode("ascii"), port, type=socket.SOCK_STREAM)
    last: OSError = OSError(0, "the name has no address")
    for number, (family, kind, protocol, _, address) in enumerate(found, 1):
        left = end - time.monotonic()
        if left <= 0:
            break
        connection = socket.socket(family, kind, protocol)
        try:
            connection.settimeout(left if number == len(found) else min(left, FIRST_SECONDS))
            connection.connect(address)
        except OSError as error:
            connection.close()
            last = error
        else:
            connection.setblocking(False)
            return connection
    raise last
