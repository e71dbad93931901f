"""Numbers of X displays, reserved by their abstract socket names.

Clients look for the server at the abstract name ``@/tmp/.X11-unix/XN`` before the file of the same
path (libxcb, xcb_util.c). All desktops share the abstract names of the host's network namespace. A
foreign server at the name would get the connections of another desktop's clients, with its cookie.
So each desktop has a number of its own, and its name is bound to a socket that accepts nothing:
no other process can bind it, and clients are refused there and go on to the file.
"""

import errno
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from deskhand.desktop.x11.server_files import X_SOCKETS

MOST_DISPLAYS = 10_000


def reserve_display() -> tuple[int, socket.socket]:
    """Return the first free number, with the socket that reserves it while it is open.

    Raises:
        OSError: If none is free.
    """
    for number in range(MOST_DISPLAYS):
        name = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            name.bind(f"\0/tmp/.X11-unix/X{number}")
        except OSError as error:
            name.close()
            if error.errno != errno.EADDRINUSE:
                raise
        else:
            return number, name
    raise OSError(errno.EADDRINUSE, "all X displays are in use")


@contextmanager
def free_display() -> Iterator[int]:
    """Reserve a number whose display has no socket, and give it up at the end of the block.

    Raises:
        OSError: If none is free.
    """
    with ExitStack() as reserved:
        number, name = reserve_display()
        reserved.enter_context(name)
        while (X_SOCKETS / f"X{number}").exists():
            number, name = reserve_display()
            reserved.enter_context(name)
        yield number
