"""Process that relays the agent's X clients to the X server, through the filter.

It has the service's user, and one thread. Clients are admitted by their user (SO_PEERCRED,
unix(7)), whatever cookie they present, and the server sees the trusted cookie. Descriptors are not
passed on: no extension that clients have needs them.
"""

import selectors
import socket
import struct
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from deskhand.desktop.x11.client_processes import ClientProcesses
from deskhand.desktop.x11.sockets import SocketPeer, peer_of
from deskhand.desktop.x11.x_setup import HEAD_BYTES, setup_bytes, with_cookie

from .requests import Agents, XClient
from .server import Server
from .start_message import FilterStart, received
from .stream import FilteredStream, NoXProtocol

CHUNK_BYTES = 1 << 18
"""Most bytes of one read: a socket of this kind holds less (net.core.wmem_default)."""
_MOST_SETUP_BYTES = 4096
_MOST_REFUSED = 64
"""Refused clients whose setup request is read and answered with the reason, at the same time."""
_ORDERS = {ord("l"): "<", ord("B"): ">"}
_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


def serve(service: socket.socket) -> None:
    """Relay as the service's first message says, until the service closes the socket."""
    start, listener, processes = received(service)
    server = Server.at(start.server, bytes.fromhex(start.cookie))
    relay = Relay(listener, server, start, processes)
    relay.watch(service, _READ, lambda _: relay.stop())
    relay.run()


class Relay:
    """All clients of one listening socket."""

    def __init__(
        self,
        listener: socket.socket,
        server: Server,
        start: FilterStart,
        processes: ClientProcesses,
    ) -> None:
        self.server = server
        self.processes = processes
        self.agents = Agents()
        self.buffer = memoryview(bytearray(CHUNK_BYTES))
        self._listener = listener
        self._most = start.most
        self._users = frozenset(start.users)
        self._selector = selectors.DefaultSelector()
        self._counts: Counter[int] = Counter()
        self._refused = 0
        self._stopped = False
        listener.setblocking(False)
        self.watch(listener, _READ, self._accept)

    def run(self) -> None:
        """Relay until `stop`."""
        while not self._stopped:
            for key, events in self._selector.select():
                key.data(events)

    def stop(self) -> None:
        """End `run`."""
        self._stopped = True

    def watch(self, end: socket.socket, events: int, act: Callable[[int], None]) -> None:
        """Call ``act`` with what has happened when one of ``events`` does; 0 for none."""
        known = self._selector.get_map().get(end)
        if known is None:
            if events:
                self._selector.register(end, events, act)
        elif not events:
            self._selector.unregister(end)
        elif known.events != events:
            self._selector.modify(end, events, act)

    def left(self, user: int, *, refused: bool) -> None:
        """Note that a client has gone."""
        self._refused -= refused
        self._counts[user] -= not refused

    def _accept(self, events: int) -> None:
        with suppress(OSError):
            client, _ = self._listener.accept()
            client.setblocking(False)
            peer = peer_of(client)
            reason = self._refusal(peer.user)
            if reason and self._refused >= _MOST_REFUSED:
                client.close()
                return
            self._refused += bool(reason)
            self._counts[peer.user] += not reason
            Link(self, client, peer, reason).open()

    def _refusal(self, user: int) -> str:
        """Return why a user may have no more clients, or nothing."""
        if user not in self._users:
            return f"user {user} has no access to this display"
        if self._counts[user] >= self._most:
            return f"user {user} has {self._most} clients on this display, and may have no more"
        return ""


class ServerSide(NamedTuple):
    """A client's connection to the server, and its filter."""

    server: socket.socket
    stream: FilteredStream


class Link:
    """One client, and its connection to the server after its setup request."""

    def __init__(self, relay: Relay, client: socket.socket, peer: SocketPeer, refusal: str) -> None:
        self._relay = relay
        self._client = client
        self._peer = peer
        self._refusal = refusal
        self._upstream: ServerSide | None = None
        self._setup = b""
        self._to_server = self._to_client = memoryview(b"")
        """What the other side has not taken yet; meanwhile no more is read."""
        self._open = True
        self._noted = False
        """Whether the table has the client's process."""

    def open(self) -> None:
        """Wait for the client's setup request."""
        self._relay.watch(self._client, _READ, self._on_client)

    def _on_client(self, events: int) -> None:
        self._guarded(self._serve_client, events)

    def _on_server(self, events: int) -> None:
        self._guarded(self._serve_server, events)

    def _guarded(self, serve: Callable[[int], None], events: int) -> None:
        # An event of the same select(2) may have closed both.
        if not self._open:
            return
        try:
            serve(events)
            self._watch()
        except BlockingIOError:
            pass
        except (OSError, ValueError):
            self._close()

    def _serve_client(self, events: int) -> None:
        if events & _WRITE:
            self._to_client = _sent(self._client, self._to_client)
        if events & _READ and not self._to_server:
            data = self._read(self._client)
            if self._upstream is None:
                self._begin(data)
            else:
                server, stream = self._upstream
                self._to_server = _sent(server, memoryview(stream.to_server(data)))

    def _serve_server(self, events: int) -> None:
        if self._upstream is None:
            return
        server, stream = self._upstream
        if events & _WRITE:
            self._to_server = _sent(server, self._to_server)
        if events & _READ and not self._to_client:
            data = self._read(server)
            passed = stream.to_client(data)
            if not self._noted and stream.client.base > 0:
                self._note(stream.client, self._peer.process)
            self._to_client = _sent(self._client, memoryview(passed))

    def _read(self, end: socket.socket) -> bytes:
        count = end.recv_into(self._relay.buffer)
        if not count:
            raise ConnectionError("the other side has closed it")
        return bytes(self._relay.buffer[:count])

    def _begin(self, data: bytes) -> None:
        """Connect to the server once the setup request is complete."""
        self._setup += data
        if len(self._setup) < HEAD_BYTES:
            return
        head = self._setup[:HEAD_BYTES]
        length, order = setup_bytes(head), _ORDERS[head[0]]
        # No client sends a request before it has the answer.
        if length > _MOST_SETUP_BYTES or len(self._setup) > length:
            raise NoXProtocol(f"a setup of {length} bytes, of which {len(self._setup)} came")
        if len(self._setup) < length:
            return
        if self._refusal:
            self._client.send(refusal_message(order, self._refusal))
            raise ConnectionRefusedError(self._refusal)
        known, self._setup = self._relay.server, b""
        stream = FilteredStream(order, self._relay.agents, known.opcodes, known.managers)
        self._upstream = ServerSide(known.connect(), stream)
        request = with_cookie(head, known.cookie)
        self._to_server = _sent(self._upstream.server, memoryview(request))

    def _watch(self) -> None:
        """Read from a side only while the other side takes what was read."""
        of_client = (0 if self._to_server else _READ) | (_WRITE if self._to_client else 0)
        self._relay.watch(self._client, of_client, self._on_client)
        if self._upstream is not None:
            of_server = (0 if self._to_client else _READ) | (_WRITE if self._to_server else 0)
            self._relay.watch(self._upstream.server, of_server, self._on_server)

    def _note(self, client: XClient, process: int) -> None:
        self._noted = bool(process)
        self._relay.processes.note(client.base, client.mask, process)

    def _close(self) -> None:
        self._open = False
        ends = [self._client]
        if self._upstream is not None:
            # Before the server can give the ids to another client.
            self._upstream.stream.close()
            if self._noted:
                self._note(self._upstream.stream.client, 0)
            ends.append(self._upstream.server)
        for end in ends:
            self._relay.watch(end, 0, self._on_client)
            end.close()
        self._relay.left(self._peer.user, refused=bool(self._refusal))


def refusal_message(order: str, reason: str) -> bytes:
    """Return the answer of a server that refuses a setup (X protocol, section 8)."""
    text = reason.encode()
    padded = text + bytes(-len(text) % 4)
    return struct.pack(f"{order}BBHHH", 0, len(text), 11, 0, len(padded) // 4) + padded


def _sent(end: socket.socket, data: memoryview) -> memoryview:
    """Send what can be sent without waiting; return the rest."""
    with suppress(BlockingIOError):
        while data:
            data = data[end.send(data) :]
    return data
