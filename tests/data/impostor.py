"""Takes the place of sockets again and again; notes those that it has got, and what it receives.

Arguments: the file for notes, and the sockets; ``@`` begins an abstract name, ``tcp:`` a port. To
each client it answers as a service that accepts everything.
"""

import select
import socket
import sys
from contextlib import suppress
from pathlib import Path

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


def bound(name: str) -> socket.socket:
    if name.startswith("tcp:"):
        return socket.create_server(("127.0.0.1", int(name.removeprefix("tcp:"))))
    listener = socket.socket(socket.AF_UNIX)
    try:
        if not name.startswith("@"):
            with suppress(OSError):
                Path(name).parent.mkdir(parents=True)
            if Path(name).exists():
                Path(name).rename(name + ".away")
        listener.bind("\0" + name[1:] if name.startswith("@") else name)
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


notes = Path(sys.argv[1]).open("w", buffering=1)  # noqa: SIM115 - until it is killed
wanted, listeners = set(sys.argv[2:]), {}
while True:
    for name in sorted(wanted):
        with suppress(OSError):
            listener = bound(name)
            listeners[listener.fileno()] = (listener, name)
            wanted.discard(name)
            print("bound", name, file=notes)
    print("tried", file=notes)
    for descriptor in select.select(list(listeners), [], [], 0.002)[0]:
        listener, name = listeners[descriptor]
        client, _ = listener.accept()
        client.settimeout(5)
        with suppress(OSError):
            print("received", name, len(client.recv(65536)), file=notes)
            client.sendall(ANSWER)
        client.close()
