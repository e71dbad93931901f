"""Relay of connections from a desktop's namespace to the addresses of the host that it may reach.

Run as ``python -S -E relay.py NOTICE_FD EXIT_FD LISTENER_FD=HOST:PORT...``: standard library only.
The listening sockets belong to the desktop's namespace, the process to the host's. It works as
nobody, writes ``1`` to ``NOTICE_FD`` when it accepts connections, and ends when the other end of
``EXIT_FD`` is closed.
"""

import ctypes
import encodings.idna  # noqa: F401 - the first host name needs it, and the user nobody may not read it
import os
import socket
import sys
from contextlib import suppress
from threading import Thread

NOBODY = 65534
PR_SET_DUMPABLE = 4
PR_SET_NO_NEW_PRIVS = 38
"""Of <linux/prctl.h>, prctl(2)."""

READ_SIZE = 1 << 16
CONNECT_SECONDS = 10.0


def main(arguments: list[str]) -> None:
    """Relay until the exit descriptor is closed on its other end."""
    notice, exit_descriptor, *relays = arguments
    if os.geteuid() == 0:
        _drop_privileges()
    for text in relays:
        descriptor, _, address = text.partition("=")
        host, _, port = address.rpartition(":")
        listener = socket.socket(fileno=int(descriptor))
        Thread(target=_accept, args=(listener, (host, int(port))), daemon=True).start()
    # A full pipe: its reader has not read the starts before.
    with suppress(OSError):
        os.write(int(notice), b"1")
    os.read(int(exit_descriptor), 1)


def _drop_privileges() -> None:
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    kernel = ctypes.CDLL(None)
    kernel.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    kernel.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def _accept(listener: socket.socket, address: tuple[str, int]) -> None:
    while True:
        client, _ = listener.accept()
        Thread(target=_serve, args=(client, address), daemon=True).start()


def _serve(client: socket.socket, address: tuple[str, int]) -> None:
    with client, suppress(OSError), socket.create_connection(address, CONNECT_SECONDS) as server:
        server.settimeout(None)
        back = Thread(target=_copy, args=(server, client), daemon=True)
        back.start()
        _copy(client, server)
        back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(READ_SIZE):
            target.sendall(data)
    # The other direction may still have data, so only this one is closed.
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    main(sys.argv[1:])
    # Connections may be open in other threads.
    os._exit(0)
