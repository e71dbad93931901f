"""Clients of the gates of nodes, over TLS with the certificates of both ends."""

from dataclasses import dataclass

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.client.http1.connections import ConnectionPool
from deskhand.tools.cluster.gate_connections import gate_connections
from deskhand.tools.cluster.trust import ClusterTls


@dataclass(frozen=True)
class GateAddress:
    """The name of a node, and ``HOST:PORT`` of its gate."""

    node: str
    address: str


class GateClients:
    """The clients; all desktops of a node share the connections to its gate."""

    def __init__(self, tls: ClusterTls) -> None:
        self._tls = tls
        self._pools: dict[GateAddress, ConnectionPool] = {}
        self._gates: dict[GateAddress, DesktopClient] = {}
        self._desktops: dict[tuple[GateAddress, str], DesktopClient] = {}

    def gate(self, gate: GateAddress) -> DesktopClient:
        """Return the client of a gate itself."""
        if gate not in self._gates:
            self._gates[gate] = DesktopClient(f"https://{gate.address}", "", pool=self._pool(gate))
        return self._gates[gate]

    def desktop(self, gate: GateAddress, desktop_id: str) -> DesktopClient:
        """Return the client of a desktop behind a gate."""
        key = gate, desktop_id
        if key not in self._desktops:
            address = f"https://{gate.address}/desktops/{desktop_id}"
            self._desktops[key] = DesktopClient(address, "", pool=self._pool(gate))
        return self._desktops[key]

    async def forget(self, desktop_id: str) -> None:
        """Close the client of a desktop that has ended; its requests end."""
        for key in [key for key in self._desktops if key[1] == desktop_id]:
            await self._desktops.pop(key).close()

    async def close(self) -> None:
        """Close all clients and connections."""
        for client in (*self._desktops.values(), *self._gates.values()):
            await client.close()
        for pool in self._pools.values():
            pool.close()
        self._desktops.clear()
        self._gates.clear()
        self._pools.clear()

    def _pool(self, gate: GateAddress) -> ConnectionPool:
        if gate not in self._pools:
            self._pools[gate] = gate_connections(self._tls, gate.node, gate.address)
        return self._pools[gate]
