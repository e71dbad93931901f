"""Ways from a client to an RFB server: our relay, websockify, and a direct connection."""

import asyncio
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from fastapi import FastAPI

from deskhand.vncbridge.rfb.proxy import UnixUpstream, router
from deskhand.vncbridge.rfb.viewers import Viewers
from deskhand.vncbridge.server.server import Address, Serving, listening

BLOCK = bytes(range(256)) * 1024
OPENING = (
    "GET /api/v0/desktop/vnc HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
    "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: binary\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
BINARY = 2

Behaviour = Callable[[socket.socket], None]


class ClientConnection:
    """The client's side of a connection, on a WebSocket (``framed``) or a plain socket."""

    def __init__(self, sock: socket.socket, framed: bool) -> None:
        self.sock = sock
        self._framed = framed
        self._received = bytearray()

    def send(self, data: bytes) -> None:
        """Send less than 64 KiB; on a WebSocket in one frame, its mask zero (RFC 6455, 5.3)."""
        if not self._framed:
            self.sock.sendall(data)
            return
        short = len(data) < 126
        length = bytes([0x80 | len(data)]) if short else struct.pack(">BH", 0xFE, len(data))
        self.sock.sendall(bytes([0x80 | BINARY]) + length + bytes(4) + data)

    def read(self, size: int) -> bytes:
        """Return exactly ``size`` bytes of payload."""
        while len(self._received) < size:
            self._received += self._frame() if self._framed else self._some(65536)
        found = bytes(self._received[:size])
        del self._received[:size]
        return found

    def take(self, size: int) -> None:
        """Receive and drop that many bytes, headers of frames included."""
        taken = bytearray(1024 * 1024)
        while size > 0:
            received = self.sock.recv_into(taken)
            assert received, "the line was cut"
            size -= received

    def _some(self, most: int) -> bytes:
        data = self.sock.recv(most)
        if not data:
            raise ConnectionError("the line was cut")
        return data

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            data += self._some(size - len(data))
        return data

    def _frame(self) -> bytes:
        while True:
            kind, length = self._exactly(2)
            if length == 126:
                length = int.from_bytes(self._exactly(2))
            elif length == 127:
                length = int.from_bytes(self._exactly(8))
            data = self._exactly(length)
            if kind & 15 == BINARY:
                return data


class Way:
    """One way to the RFB server, ready for connections."""

    def __init__(self, address: str | int, process: psutil.Process | None = None) -> None:
        self._address = address
        self._process = process

    @property
    def port(self) -> int | None:
        """Port for a page; ``None`` without a relay."""
        return self._address if isinstance(self._address, int) else None

    @contextmanager
    def connect(self) -> Iterator[ClientConnection]:
        """Open a connection."""
        if isinstance(self._address, str):
            with socket.socket(socket.AF_UNIX) as sock:
                sock.connect(self._address)
                yield ClientConnection(sock, framed=False)
            return
        with socket.create_connection(("127.0.0.1", self._address)) as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.sendall(OPENING.encode())
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += sock.recv(1)
            assert b" 101 " in head, head
            yield ClientConnection(sock, framed=True)

    def _family(self) -> list[psutil.Process]:
        if self._process is None:
            return []
        return [self._process, *self._process.children(recursive=True)]

    def cpu(self) -> float:
        """Return the CPU seconds of the relay's processes, ended children included."""
        total = 0.0
        for one in self._family():
            with suppress(psutil.NoSuchProcess):
                total += sum(one.cpu_times()[:4] if one is self._process else one.cpu_times()[:2])
        return total

    def memory(self) -> float:
        """Return the MiB of the relay's processes, shared pages divided among their users (PSS)."""
        total = 0
        for one in self._family():
            with suppress(psutil.NoSuchProcess):
                total += one.memory_full_info().pss
        return total / 2**20


@contextmanager
def source(path: Path, behaviour: Behaviour) -> Iterator[Path]:
    """Serve a behaviour on a unix socket, one thread for each connection."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(128)

        def serve(sock: socket.socket) -> None:
            with sock, suppress(ConnectionError):
                behaviour(sock)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    sock, _ = listener.accept()
                    threading.Thread(target=serve, args=(sock,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield path
        listener.shutdown(socket.SHUT_RDWR)


def flood(size: int) -> Behaviour:
    """Return a behaviour that sends so many bytes as fast as they are read."""

    def send(sock: socket.socket) -> None:
        for _ in range(size // len(BLOCK)):
            sock.sendall(BLOCK)

    return send


def echo(sock: socket.socket) -> None:
    """Send back what is received."""
    while data := sock.recv(65536):
        sock.sendall(data)


@contextmanager
def ours(path: Path) -> Iterator[Way]:
    """Run our relay, alone in its process."""
    command = (sys.executable, "-m", "bench.relay_ways", str(path))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            yield Way(int(child.stdout.readline()), psutil.Process(child.pid))
        finally:
            child.terminate()


@contextmanager
def websockify(path: Path) -> Iterator[Way]:
    """Run websockify, which forks a process for each connection."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = (str(program()), f"127.0.0.1:{port}", f"--unix-target={path}")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        try:
            _until_listening(port)
            yield Way(port, psutil.Process(child.pid))
        finally:
            child.terminate()


@contextmanager
def direct(path: Path) -> Iterator[Way]:
    """Connect directly, without a relay."""
    yield Way(str(path))


def program() -> Path:
    """Return the path at which websockify would be installed; it is no dependency."""
    return Path(sys.executable).with_name("websockify")


def _until_listening(port: int) -> None:
    turn = threading.Event()
    for _ in range(200):
        with suppress(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port)).close()
            return
        turn.wait(0.05)
    raise TimeoutError(f"no server listens on port {port}")


def serve(path: Path) -> None:
    """Run our relay as a desktop service does; print its port."""
    app = FastAPI()
    app.include_router(router(UnixUpstream(path), lambda: False, Viewers()))
    with listening(Address("127.0.0.1", 0)) as (bound, address):
        server = Serving(app, ready=lambda: print(address.port, flush=True))
        asyncio.run(server.run_until_asked(bound))


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
