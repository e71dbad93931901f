import asyncio
import os
import socket
from collections.abc import Callable
from typing import Any

from deskhand.desktop.network.egress import Egress
from deskhand.desktop.network.network import DesktopNetwork
from deskhand.desktop.network.reporter import RefusalReporter
from tests.desktop.network.test_nflog import TCP4, datagram

LINE = b'NOTICE    Nov 22 06:14:08.123 [12]: Proxying refused on filtered domain "%s"\n'


class Published:
    """Events, and a way to wait for a number of them."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self._changed = asyncio.Event()

    def add(self, kind: str, data: dict[str, Any]) -> None:
        self.events.append((kind, data))
        self._changed.set()

    async def number(self, wanted: int) -> None:
        async with asyncio.timeout(20):
            while len(self.events) < wanted:
                self._changed.clear()
                await self._changed.wait()


def run(scenario: Callable[[], Any]) -> None:
    asyncio.run(scenario())


def test_refused_packets_are_published_once_each() -> None:
    async def scenario() -> None:
        published = Published()
        kernel, packets = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        with kernel, packets:
            packets.setblocking(False)
            network = DesktopNetwork(Egress("none"), packets=packets)
            with RefusalReporter(network, published.add, lambda: 0.0):
                for packet in (TCP4, TCP4, TCP4[:22] + b"\x01\xbb"):
                    kernel.send(datagram(packet))
                await published.number(2)
        assert published.events == [
            ("egress_refused", {"address": "169.254.169.254", "port": port, "protocol": "tcp"})
            for port in (80, 443)
        ]

    run(scenario)


def test_hosts_that_the_proxy_refused_are_published_also_from_parts_of_lines() -> None:
    async def scenario() -> None:
        published = Published()
        log, writing = os.pipe()
        os.set_blocking(log, False)
        with RefusalReporter(DesktopNetwork(proxy_log=log), published.add, lambda: 0.0):
            text = LINE % b"a.test" + b"INFO another line\n" + LINE % b"b.test"
            for end in (10, 90, len(text)):
                os.write(writing, text[:end])
                text = text[end:]
                if end == 10:
                    await asyncio.sleep(0)
            os.write(writing, text)
            await published.number(2)
            # The end of the proxy stops the reading.
            os.close(writing)
            await asyncio.sleep(0)
        os.close(log)
        assert [data["address"] for _, data in published.events] == ["a.test", "b.test"]

    run(scenario)


def test_a_program_that_is_started_again_is_shown_meanwhile() -> None:
    async def scenario() -> None:
        published = Published()
        pipes = {name: os.pipe2(os.O_NONBLOCK) for name in ("slirp4netns", "tinyproxy")}
        log, writing = os.pipe2(os.O_NONBLOCK)
        notices = {name: reading for name, (reading, _) in pipes.items()}
        network = DesktopNetwork(Egress("list"), proxy_log=log, notices=notices)
        with RefusalReporter(network, published.add, lambda: 0.0):
            for _, notice in pipes.values():
                os.write(notice, b"0")
            await published.number(2)
            assert network.to_json()["restarting"] == ["slirp4netns", "tinyproxy"]
            os.write(pipes["slirp4netns"][1], b"01")
            await published.number(3)
            assert network.to_json()["restarting"] == ["tinyproxy"]
            os.write(writing, b"INFO Accepting connections\n")
            await published.number(4)
            assert network.to_json()["restarting"] == []
            assert {kind for kind, _ in published.events} == {"egress_gateway"}
            assert published.events[-1][1] == {"program": "tinyproxy", "running": True}
        for descriptor in (log, writing, *(one for pipe in pipes.values() for one in pipe)):
            os.close(descriptor)

    run(scenario)
