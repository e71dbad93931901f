"""Limits of connections that have shown no credential, and the choice of those to close. Pure.

A connection is *unproven* from its acceptance until a request on it has a valid credential, it
becomes a WebSocket, or it is closed. An unproven connection *waits* while the next step is its
client's: it has sent no request, a part of one, or reads nothing but answers. Over a limit, the
connection that has waited longest is closed, not the newest one: a browser sends its request at
once, so a flood of silent connections cannot keep it out.
"""

import ipaddress
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

SHARE = 5
"""Share of the descriptors, 1/5, for the unproven connections of one server. A process has up to
three servers; desktops, the database and files need the others."""
NETWORK_BITS = 64
"""Of an IPv6 address: a host has all addresses of its network (RFC 4291 section 2.5.1)."""

Connection = TypeVar("Connection", bound=Hashable)


@dataclass(frozen=True)
class ConnectionLimits:
    """The limits of one server."""

    head_seconds: float = 15.0
    """Time for the headers of a request, also for the first byte of the first request."""
    unproven: int = 1000
    waiting_per_peer: int = 64

    def within(self, descriptors: int) -> "ConnectionLimits":
        """Return the limits for a process that may open so many descriptors."""
        unproven = max(1, min(self.unproven, descriptors // SHARE))
        return ConnectionLimits(self.head_seconds, unproven, self.waiting_per_peer)


def peer_of(address: str) -> str:
    """Return the peer that an address belongs to: all addresses of an IPv6 network are one."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return address
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, NETWORK_BITS), strict=False).network_address)


class UnprovenConnections(Generic[Connection]):
    """The unproven connections of one server, in the order in which they began to wait."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._peers: dict[Connection, str] = {}
        # Dicts keep the order of insertion, so the first key has waited longest.
        self._waiting: dict[str, dict[Connection, None]] = {}

    def __len__(self) -> int:
        return len(self._peers)

    def add(self, connection: Connection, peer: str) -> Connection | None:
        """Enter a new connection, which waits; return the one to close, if there are too many."""
        victim = self._surplus_of(peer)
        if victim is None and len(self._peers) >= self._limits.unproven:
            victim = self._longest_waiting()
            # Every other connection has a complete request, which is answered first.
            if victim is None:
                return connection
        if victim is not None:
            self.remove(victim)
        self._peers[connection] = peer
        self._waiting.setdefault(peer, {})[connection] = None
        return victim

    def wait(self, connection: Connection) -> Connection | None:
        """Record that the next step is the client's; return the connection to close, if any."""
        peer = self._peers.get(connection)
        if peer is None or connection in self._waiting.get(peer, {}):
            return None
        victim = self._surplus_of(peer)
        if victim is not None:
            self.remove(victim)
        self._waiting.setdefault(peer, {})[connection] = None
        return victim

    def work(self, connection: Connection) -> None:
        """Record that the next step is the server's."""
        peer = self._peers.get(connection)
        if peer is not None:
            self._stop_waiting(connection, peer)

    def remove(self, connection: Connection) -> None:
        """Forget a connection: it is closed, or has shown a credential. Twice is fine."""
        peer = self._peers.pop(connection, None)
        if peer is not None:
            self._stop_waiting(connection, peer)

    def _stop_waiting(self, connection: Connection, peer: str) -> None:
        waiting = self._waiting.get(peer, {})
        waiting.pop(connection, None)
        if not waiting:
            self._waiting.pop(peer, None)

    def _surplus_of(self, peer: str) -> Connection | None:
        """Return the connection that must be closed before another one of this peer waits."""
        waiting = self._waiting.get(peer, {})
        return next(iter(waiting)) if len(waiting) >= self._limits.waiting_per_peer else None

    def _longest_waiting(self) -> Connection | None:
        """Return the oldest connection of the peer with the most waiting ones."""
        fullest = max(self._waiting.values(), key=len, default=None)
        return None if fullest is None else next(iter(fullest))
