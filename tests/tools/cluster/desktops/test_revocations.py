"""Reports of ended credentials to gates on loopback."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from deskhand.tools.cluster.desktops.gates import GateAddress, GateClients
from deskhand.tools.cluster.desktops.placed import Placed, PlacedNode
from deskhand.tools.cluster.desktops.revocations import NodeRevocations
from deskhand.tools.cluster.tickets import LIFETIME_SECONDS
from tests.tools.cluster.certified import Cluster
from tests.tools.cluster.desktops.gates import FakeGate, gate, until

LIMIT = 60.0


class Situation:
    """What a control plane knows, and a clock that a test moves."""

    def __init__(self, node: FakeGate, clients: GateClients) -> None:
        self.gate = node
        place = GateAddress("n7", node.address)
        self.node = PlacedNode(place, is_up=True, draining=False, public_url="wss://n7")
        self.placed = Placed({}, {"n7": self.node})
        self.leads = False
        self.now = 0.0
        self.made = NodeRevocations(
            clients, lambda: self.placed, lambda: self.leads, lambda: self.now
        )

    def know(self, *nodes: PlacedNode) -> None:
        self.placed = Placed({}, {one.gate.node: one for one in nodes})


def play(folder: Path, scenario: Callable[[Situation], Awaitable[None]]) -> None:
    async def main() -> None:
        cluster = Cluster(folder)
        async with asyncio.timeout(LIMIT), gate(cluster) as node:
            clients = GateClients(cluster.plane)
            situation = Situation(node, clients)
            try:
                await scenario(situation)
            finally:
                await situation.made.close()
                await clients.close()

    asyncio.run(main())


def test_a_node_is_asked_again_until_it_takes_a_revocation(tmp_path: Path) -> None:
    async def scenario(s: Situation) -> None:
        s.gate.failures = 1
        s.made.ended("token:1")
        s.made.ended("session:2")
        await until(lambda: sorted(s.gate.revoked) == ["session:2", "token:1"])
        assert s.gate.asked.count("POST /revocations") == 3

    play(tmp_path, scenario)


def test_a_node_that_is_down_gets_it_when_it_is_back_and_does_not_delay_the_others(
    tmp_path: Path,
) -> None:
    async def scenario(s: Situation) -> None:
        # Nothing listens at the port of n8.
        gone = replace(s.node, gate=GateAddress("n8", "127.0.0.1:1"))
        down = replace(s.node, is_up=False)
        s.know(down, gone)
        s.made.ended("token:1")
        await asyncio.sleep(0)
        assert s.gate.revoked == []
        s.know(s.node, gone)
        await until(lambda: s.gate.revoked == ["token:1"])

    play(tmp_path, scenario)


def test_reports_end_with_the_life_of_tickets(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(s: Situation) -> None:
        s.know(replace(s.node, gate=GateAddress("n8", "127.0.0.1:1")))
        s.now = 5.0
        s.made.ended("token:1")
        await asyncio.sleep(0)
        s.now += LIFETIME_SECONDS
        await until(lambda: "has reached n8" in caplog.text)

    with caplog.at_level("WARNING"):
        play(tmp_path, scenario)


def test_nodes_without_viewers_are_not_asked(tmp_path: Path) -> None:
    async def scenario(s: Situation) -> None:
        s.know(replace(s.node, public_url=""))
        s.made.ended("token:1")
        await asyncio.sleep(0)
        s.know(s.node)
        s.made.ended("token:2")
        await until(lambda: s.gate.revoked == ["token:2"])

    play(tmp_path, scenario)


def test_the_control_plane_that_leads_repeats_what_others_announce(tmp_path: Path) -> None:
    async def scenario(s: Situation) -> None:
        s.made.announced("token:1")
        s.leads = True
        for name in ("tokens:", "people:", "token:2"):
            s.made.announced(name)
        await until(lambda: s.gate.revoked == ["token:2"])

    play(tmp_path, scenario)
