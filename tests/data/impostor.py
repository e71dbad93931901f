"""Takes the place of sockets again and again; notes those that it has got, and what it receives.

Arguments: the file for notes, and the sockets; ``@`` begins an abstract name.
"""

import select
import socket
import sys
from pathlib import Path

notes = Path(sys.argv[1]).open("w", buffering=1)  # noqa: SIM115 - until it is killed
wanted, listeners = set(sys.argv[2:]), {}
while True:
    for name in sorted(wanted):
        listener = socket.socket(socket.AF_UNIX)
        try:
            if not name.startswith("@") and Path(name).exists():
                Path(name).rename(name + ".away")
            listener.bind("\0" + name[1:] if name.startswith("@") else name)
        except OSError:
            listener.close()
            continue
        listener.listen()
        listeners[listener.fileno()] = (listener, name)
        wanted.discard(name)
        print("bound", name, file=notes)
    print("tried", file=notes)
    for descriptor in select.select(list(listeners), [], [], 0.002)[0]:
        listener, name = listeners[descriptor]
        client, _ = listener.accept()
        client.settimeout(5)
        print("received", name, len(client.recv(65536)), file=notes)
        client.close()
