"""A proxy in front of several control planes, as a load balancer."""

import threading
from contextlib import suppress
from socket import SHUT_WR, create_connection, create_server, socket


class RoundRobin:
    """A TCP proxy that gives each connection to the next of its targets that accepts it."""

    def __init__(self, targets: list[int]) -> None:
        self.targets = targets
        self._next = 0
        self._server = create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"

    def __enter__(self) -> "RoundRobin":
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._join, args=(client,), daemon=True).start()

    def _join(self, client: socket) -> None:
        with client:
            for _ in self.targets:
                self._next += 1
                port = self.targets[self._next % len(self.targets)]
                with suppress(OSError), create_connection(("127.0.0.1", port)) as target:
                    back = threading.Thread(target=_copy, args=(target, client), daemon=True)
                    back.start()
                    _copy(client, target)
                    back.join()
                    return


def _copy(source: socket, target: socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(SHUT_WR)
