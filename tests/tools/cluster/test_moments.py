"""Events of the moment over real TLS connections between control planes."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deskhand.tools.cluster.errors import BadAuthority
from deskhand.tools.cluster.member import Member
from deskhand.tools.cluster.moment import MomentaryEvent, PeerAddress
from deskhand.tools.cluster.moment_reader import MomentReader
from deskhand.tools.cluster.moment_sender import MomentSender
from deskhand.tools.cluster.moments import plane_moments
from tests.tools.cluster.certified import N7, PLANE, Cluster

TWO = Member("plane", "p2")


def event(number: int, chat: str = "c1", kind: str = "text") -> MomentaryEvent:
    return MomentaryEvent(kind, chat, {"text": str(number)})


@dataclass
class Receiver:
    """The events that one control plane has received."""

    events: list[MomentaryEvent] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)

    def received(self, one: MomentaryEvent) -> None:
        self.events.append(one)
        self.came.set()

    async def until(self, done: Callable[[], bool]) -> None:
        while not done():
            self.came.clear()
            await self.came.wait()


@dataclass
class Pair:
    """One control plane that sends, and another one that reads."""

    cluster: Cluster
    sender: MomentSender
    port: int
    receiver: Receiver
    peers: set[PeerAddress]

    @property
    def address(self) -> PeerAddress:
        return PeerAddress(PLANE, "127.0.0.1", self.port)

    async def living(self) -> Collection[PeerAddress]:
        return frozenset(self.peers)

    async def connected(self, number: int = 1) -> None:
        while self.sender.connections != number:  # noqa: ASYNC110 - as many as the sender says
            await asyncio.sleep(0.01)


@asynccontextmanager
async def sending(cluster: Cluster, port: int = 0) -> AsyncIterator[tuple[MomentSender, int]]:
    bound = socket.create_server(("127.0.0.1", port))
    async with MomentSender(cluster.plane) as sender:
        await sender.listen(bound)
        alive = asyncio.create_task(sender.run(0.05))
        try:
            yield sender, bound.getsockname()[1]
        finally:
            alive.cancel()
            await asyncio.gather(alive, return_exceptions=True)


def readable(writer: asyncio.StreamWriter) -> asyncio.Transport:
    transport = writer.transport
    assert isinstance(transport, asyncio.Transport)
    return transport


def play(folder: Path, scenario: Callable[[Pair], Awaitable[None]]) -> None:
    async def main() -> None:
        cluster = Cluster(folder)
        tls = cluster.issue(TWO)
        async with asyncio.timeout(60), sending(cluster) as (sender, port):
            pair = Pair(cluster, sender, port, Receiver(), set())
            pair.peers.add(pair.address)
            reader = MomentReader(tls, pair.living, pair.receiver.received)
            reading = asyncio.create_task(reader.run(0.05, 0.05))
            try:
                await scenario(pair)
            finally:
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)

    asyncio.run(main())


def test_events_reach_another_control_plane_in_order(tmp_path: Path) -> None:
    async def scenario(pair: Pair) -> None:
        await pair.connected()
        sent = [event(n, kind="notice") for n in range(100)]
        for one in sent:
            pair.sender.send(one)
        await pair.receiver.until(lambda: len(pair.receiver.events) == 100)
        assert pair.receiver.events == sent

    play(tmp_path, scenario)


def test_one_that_ends_is_connected_to_again_while_it_lives(tmp_path: Path) -> None:
    async def scenario(pair: Pair) -> None:
        await pair.connected()
        await pair.sender.__aexit__()
        async with sending(pair.cluster, pair.port) as (again, _):
            while not again.connections:  # noqa: ASYNC110 - as many as the sender says
                await asyncio.sleep(0.01)
            again.send(event(1))
            await pair.receiver.until(lambda: pair.receiver.events == [event(1)])
            pair.peers.clear()
            while again.connections:  # noqa: ASYNC110 - as many as the sender says
                await asyncio.sleep(0.01)

    play(tmp_path, scenario)


def test_a_slow_reader_gets_the_newest_text_of_each_chat(tmp_path: Path) -> None:
    async def scenario(pair: Pair) -> None:
        pair.peers.clear()
        await pair.connected(0)
        tls = pair.cluster.issue(TWO).client_context
        reader, writer = await asyncio.open_connection(
            *("127.0.0.1", pair.port), ssl=tls, server_hostname=PLANE.host, limit=1 << 24
        )
        await pair.connected()
        # The task that reads the socket stops at the limit of the stream.
        transport = readable(writer)
        transport.pause_reading()
        filler = "x" * 100_000
        for number in range(1000):
            for chat in ("c1", "c2"):
                data = {"n": number, "text": filler}
                pair.sender.send(MomentaryEvent("text", chat, data))
            if number % 50 == 0:
                await asyncio.sleep(0)
        transport.resume_reading()
        last: dict[str, int] = {}
        lines = 0
        while set(last.values()) != {999}:
            line = await reader.readline()
            if line.strip():
                _, chat, data = json.loads(line)
                assert data["n"] > last.get(chat, -1)
                last[chat] = data["n"]
                lines += 1
        assert lines < 500
        writer.close()

    play(tmp_path, scenario)


def test_one_that_reads_nothing_is_disconnected(tmp_path: Path) -> None:
    async def scenario(pair: Pair) -> None:
        pair.peers.clear()
        await pair.connected(0)
        tls = pair.cluster.issue(TWO).client_context
        _, writer = await asyncio.open_connection(
            *("127.0.0.1", pair.port), ssl=tls, server_hostname=PLANE.host
        )
        await pair.connected()
        transport = readable(writer)
        transport.pause_reading()
        sent = 0
        while pair.sender.connections:
            pair.sender.send(MomentaryEvent("notice", "c1", {"text": "x" * 100_000}))
            sent += 1
            assert sent < 5_000
            await asyncio.sleep(0)
        writer.close()

    play(tmp_path, scenario)


def test_only_control_planes_get_events(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(pair: Pair) -> None:
        await pair.connected()
        reader, writer = await asyncio.open_connection(
            *("127.0.0.1", pair.port),
            ssl=pair.cluster.n7.client_context,
            server_hostname=PLANE.host,
        )
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        writer.close()
        assert pair.sender.connections == 1

    play(tmp_path, scenario)
    assert "the node n7 is not the plane" in caplog.text


def test_another_control_plane_in_the_place_of_one_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")

    async def scenario(pair: Pair) -> None:
        await pair.connected()
        pair.peers.clear()
        await pair.connected(0)
        pair.peers.add(PeerAddress(Member("plane", "p9"), "127.0.0.1", pair.port))
        while "Hostname mismatch" not in caplog.text:  # noqa: ASYNC110 - a line of the log
            await asyncio.sleep(0.01)
        assert pair.receiver.events == []

    play(tmp_path, scenario)


def test_a_revoked_control_plane_gets_nothing_more(tmp_path: Path) -> None:
    async def scenario(pair: Pair) -> None:
        await pair.connected()
        pair.cluster.files.revoke(TWO, datetime.now(UTC))
        pair.cluster.spread_revocations()
        pair.cluster.plane.refresh()
        await pair.connected(0)
        pair.sender.send(event(1))
        assert pair.receiver.events == []

    play(tmp_path, scenario)


def test_two_control_planes_exchange_events(tmp_path: Path) -> None:
    async def main() -> None:
        cluster = Cluster(tmp_path)
        cluster.issue(TWO)
        receivers = Receiver(), Receiver()
        known: dict[str, PeerAddress] = {}

        def besides(name: str) -> Callable[[], Awaitable[list[PeerAddress]]]:
            async def peers() -> list[PeerAddress]:
                return [address for one, address in known.items() if one != name]

            return peers

        async with (
            asyncio.timeout(60),
            plane_moments(tmp_path / "p1", "127.0.0.1", 0, besides("p1")) as one,
            plane_moments(tmp_path / "p2", "127.0.0.1", 0, besides("p2")) as two,
            asyncio.TaskGroup() as tasks,
        ):
            known |= {"p1": one.address, "p2": two.address}
            assert str(one.address).startswith("p1@127.0.0.1:")
            running = []
            for own, receiver in zip((one, two), receivers, strict=True):

                def receive(
                    kind: str, chat: str, data: dict[str, object], receiver: Receiver = receiver
                ) -> None:
                    receiver.received(MomentaryEvent(kind, chat, data))

                running.append(tasks.create_task(own.run(receive)))
            while not (receivers[0].events and receivers[1].events):
                one.send("text", "c1", {"text": "of one"})
                two.send("text", "c2", {"text": "of two"})
                await asyncio.sleep(0.05)
            assert receivers[0].events[0].data == {"text": "of two"}
            assert receivers[1].events[0].data == {"text": "of one"}
            for task in running:
                task.cancel()

    asyncio.run(main())


def test_the_certificate_of_a_node_is_none_of_a_control_plane(tmp_path: Path) -> None:
    async def nobody() -> tuple[PeerAddress, ...]:
        return ()

    async def main() -> None:
        Cluster(tmp_path)
        async with plane_moments(tmp_path / N7.name, "127.0.0.1", 0, nobody):
            pass

    with pytest.raises(BadAuthority, match="is of the node n7; make one with deskhand ca plane"):
        asyncio.run(main())
