"""Requests to a gate that is a real server with a certificate."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from deskhand.desktop.client.http1.connection import ConnectionLost
from deskhand.desktop.client.http1.connections import Connections
from deskhand.desktop.client.http1.request import ClientRequest, RequestHeads
from deskhand.desktop.errors import DesktopUnavailable
from deskhand.tools.cluster.desktops.gates import GateAddress, GateClients
from deskhand.tools.cluster.gate_connections import gate_connections
from tests.cluster.gates import FakeGate, gates
from tests.tools.cluster.certified import N7, N8, Cluster

PATIENCE = 20.0
HEADS = RequestHeads("n7", "", {})
NODE = ClientRequest("GET", "/node", {})


def played(folder: Path, scenario: Callable[[Cluster, FakeGate], Awaitable[None]]) -> None:
    async def main() -> None:
        cluster = Cluster(folder)
        gate = FakeGate(N7.name, cluster.n7)
        async with asyncio.timeout(60), gates(gate):
            await scenario(cluster, gate)

    asyncio.run(main())


def test_a_gate_is_used_under_its_own_name_alone(tmp_path: Path) -> None:
    async def scenario(cluster: Cluster, gate: FakeGate) -> None:
        async def ask(name: str) -> int:
            pool = gate_connections(cluster.plane, name, gate.address)
            try:
                return (await Connections(pool, HEADS).request(NODE, PATIENCE)).head.status
            finally:
                pool.close()

        assert await ask(N7.name) == 200
        with pytest.raises(OSError, match="certificate is not valid for 'n8"):
            await ask(N8.name)
        assert gate.asked == 1

    played(tmp_path, scenario)


def test_a_node_that_is_revoked_gets_no_request_on_a_connection_that_lasts(tmp_path: Path) -> None:
    async def scenario(cluster: Cluster, gate: FakeGate) -> None:
        pool = gate_connections(cluster.plane, N7.name, gate.address)
        connections = Connections(pool, HEADS)
        clients = GateClients(cluster.plane)
        client = clients.gate(GateAddress(N7.name, gate.address))
        try:
            for _ in range(2):
                await connections.request(NODE, PATIENCE)
            await client.reply("GET", "/node")
            cluster.files.revoke(N7, cluster.plane.own.not_after)
            cluster.spread_revocations()
            assert cluster.plane.refresh()
            with pytest.raises(ConnectionLost, match="the node n7 was revoked"):
                await connections.request(NODE, PATIENCE)
            with pytest.raises(DesktopUnavailable, match="the node n7 was revoked"):
                await client.reply("GET", "/node")
            assert gate.asked == 3
        finally:
            await clients.close()
            pool.close()

    played(tmp_path, scenario)
