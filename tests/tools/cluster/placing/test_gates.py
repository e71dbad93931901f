"""Requests to gates that are real servers with certificates."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from deskhand.tools.cluster.placing.errors import GateRefused, GateUnreachable, GateUntrusted
from deskhand.tools.cluster.placing.gates import Gates
from tests.cluster.gates import FakeGate, gates
from tests.tools.cluster.certified import N7, PLANE, Cluster


def played(folder: Path, scenario: Callable[[Cluster, FakeGate, Gates], Awaitable[None]]) -> None:
    cluster = Cluster(folder)
    gate = FakeGate(N7.name, cluster.n7)

    async def main() -> None:
        async with asyncio.timeout(60), gates(gate), Gates(cluster.plane) as client:
            await scenario(cluster, gate, client)

    asyncio.run(main())


def test_a_desktop_is_started_and_ended(tmp_path: Path) -> None:
    async def scenario(_: Cluster, gate: FakeGate, client: Gates) -> None:
        facts = await client.start("n7", gate.address, {"id": "d"})
        assert facts == {"id": "d", "status": "ready"}
        assert (await client.node("n7", gate.address)).desktops == frozenset(["d"])
        await client.end("n7", gate.address, "d")
        await client.end("n7", gate.address, "d")
        assert gate.ended == ["d"]

    played(tmp_path, scenario)


def test_a_refusal_has_its_code_and_its_sentence(tmp_path: Path) -> None:
    async def scenario(_: Cluster, gate: FakeGate, client: Gates) -> None:
        gate.refusal = (409, "no_room", "no memory: 1 of 8 GB")
        with pytest.raises(GateRefused, match="no memory: 1 of 8 GB") as refused:
            await client.start("n7", gate.address, {"id": "d"})
        assert (refused.value.status, refused.value.code) == (409, "no_room")

    played(tmp_path, scenario)


@pytest.mark.slow("a host that accepts connections and says nothing")
@pytest.mark.parametrize("is_cancelled", [False, True])
def test_no_connection_stays_open_to_a_host_that_says_nothing(
    tmp_path: Path, is_cancelled: bool
) -> None:
    async def scenario(_: Cluster, gate: FakeGate, client: Gates) -> None:
        began, left = asyncio.Event(), asyncio.Event()

        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            began.set()
            await reader.read()
            left.set()
            writer.transport.abort()

        async with await asyncio.start_server(silent, "127.0.0.1", 0) as host:
            port = host.sockets[0].getsockname()[1]
            asking = asyncio.create_task(client.node("n7", f"127.0.0.1:{port}"))
            await began.wait()
            if is_cancelled:
                asking.cancel()
            error = asyncio.CancelledError if is_cancelled else GateUnreachable
            with pytest.raises(error):
                await asking
            # A socket that waits for the garbage collector would stay open.
            await left.wait()

    played(tmp_path, scenario)


def test_a_gate_of_another_node_is_not_asked(tmp_path: Path) -> None:
    async def scenario(_: Cluster, gate: FakeGate, client: Gates) -> None:
        with pytest.raises(GateUnreachable, match="node n8 at"):
            await client.node("n8", gate.address)
        gate.name = "n9"
        with pytest.raises(GateUnreachable, match="is of node 'n9', not n7"):
            await client.node("n7", gate.address)

    played(tmp_path, scenario)


def test_a_node_that_was_revoked_is_refused_on_a_connection_that_lasts(tmp_path: Path) -> None:
    async def scenario(cluster: Cluster, gate: FakeGate, client: Gates) -> None:
        await client.node("n7", gate.address)
        cluster.files.revoke(N7, cluster.plane.own.not_after)
        cluster.spread_revocations()
        assert cluster.plane.refresh()
        with pytest.raises(GateUnreachable, match="the node n7 was revoked"):
            await client.node("n7", gate.address)

    played(tmp_path, scenario)


def test_a_gate_that_does_not_listen_is_named(tmp_path: Path) -> None:
    async def scenario(_: Cluster, gate: FakeGate, client: Gates) -> None:
        await client.node("n7", gate.address)
        await gate.close()
        with pytest.raises(GateUnreachable, match="node n7 at"):
            await client.node("n7", gate.address)

    played(tmp_path, scenario)


def test_the_end_of_a_certificate_is_no_silence(tmp_path: Path) -> None:
    async def scenario(cluster: Cluster, gate: FakeGate, client: Gates) -> None:
        async with Gates(cluster.issue(PLANE, days=100)) as expired:
            with pytest.raises(GateUntrusted, match="our own certificate is over"):
                await expired.node("n7", gate.address)
        old = FakeGate(N7.name, cluster.issue(N7, days=100))
        async with gates(old):
            with pytest.raises(GateUntrusted, match="expired"):
                await client.node("n7", old.address)
        with pytest.raises(GateUnreachable) as stranger:
            await client.node("n8", gate.address)
        assert not isinstance(stranger.value, GateUntrusted)

    played(tmp_path, scenario)
