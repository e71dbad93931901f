"""Gates of nodes for tests: real HTTPS servers on loopback, and reservations without Ray."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from deskhand.tools.cluster.placing.errors import NoReservation, RoomsUnavailable
from deskhand.tools.cluster.trust import ClusterTls

Json = dict[str, Any]


@dataclass
class FakeGate:
    """A node whose desktops are names in a dictionary."""

    name: str
    tls: ClusterTls
    places: int = 80
    version: str = "1.0"
    room_problem: str = ""
    profiles: list[str] = field(default_factory=list)
    refusal: tuple[int, str, str] | None = None
    """Status, code and message with which it refuses all starts."""
    starts: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while starts may succeed; they wait for it."""
    desktops: dict[str, Json] = field(default_factory=dict)
    started: Counter[str] = field(default_factory=Counter)
    """How often each desktop was really started."""
    ended: list[str] = field(default_factory=list)
    asked_to_end: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    """How often it was asked how it is."""
    address: str = ""
    _server: asyncio.Server | None = None
    _connections: set[asyncio.StreamWriter] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.starts.set()

    async def open(self) -> None:
        """Listen, at the same address as before."""
        context = self.tls.server_context
        port = int(self.address.rpartition(":")[2] or 0)
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port, ssl=context)
        self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """Listen no more and break all connections, as a host without power does."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in list(self._connections):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._server is None:
            # It was accepted before the end, and its TLS handshake ended after it.
            writer.transport.abort()
            return
        self._connections.add(writer)
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                while True:
                    head = (await reader.readuntil(b"\r\n\r\n")).decode()
                    method, path, _ = head.split(" ", 2)
                    sizes = [one for one in head.lower().split("\r\n") if "content-length" in one]
                    size = int(sizes[0].partition(":")[2]) if sizes else 0
                    body = json.loads(await reader.readexactly(size)) if size else None
                    status, answer = await self._answer(method, path, body)
                    data = json.dumps(answer).encode() if answer is not None else b""
                    lines = f"HTTP/1.1 {status} X\r\ncontent-length: {len(data)}\r\n\r\n"
                    writer.write(lines.encode() + data)
                    await writer.drain()
        finally:
            self._connections.discard(writer)
            writer.transport.abort()

    async def _answer(self, method: str, path: str, body: Any) -> tuple[int, Json | None]:
        if path == "/node":
            self.asked += 1
            return 200, self._node()
        if method == "POST":
            return await self._start(body)
        desktop_id = path.rpartition("/")[2]
        self.asked_to_end[desktop_id] += 1
        if self.desktops.pop(desktop_id, None) is None:
            return 404, {"message": "unknown", "code": "unknown_desktop"}
        self.ended.append(desktop_id)
        return 204, None

    def _node(self) -> Json:
        return {
            **{"name": self.name, "version": self.version, "places": self.places},
            **{"room_problem": self.room_problem, "draining": False, "public_url": ""},
            **{"profiles": self.profiles, "desktops": list(self.desktops.values())},
        }

    async def _start(self, order: Json) -> tuple[int, Json]:
        if self.refusal is not None:
            status, code, message = self.refusal
            return status, {"message": message, "code": code}
        await self.starts.wait()
        if order["id"] not in self.desktops:
            self.started[order["id"]] += 1
            self.desktops[order["id"]] = {"id": order["id"], "status": "ready"}
        return 200, self.desktops[order["id"]]


@asynccontextmanager
async def gates(*found: FakeGate) -> AsyncIterator[None]:
    """Serve gates while the block runs."""
    try:
        for one in found:
            await one.open()
        yield
    finally:
        for one in found:
            await one.close()


class FakeRooms:
    """Reservations in a dictionary, which several placers share."""

    def __init__(self, *found: FakeGate) -> None:
        self.found = list(found)
        self.held: dict[str, str] = {}
        self.hung: set[str] = set()
        self.is_gone = False

    def open(self) -> None:
        self._check()

    def close(self) -> None: ...

    def nodes(self) -> dict[str, str]:
        self._check()
        return {one.name: one.address for one in self.found if one.address}

    def reservations(self) -> dict[str, str]:
        self._check()
        return dict(self.held)

    def reserve(self, desktop_id: str, node: str) -> None:
        self._check()
        if node in self.hung:
            raise NoReservation(f"Ray has reserved no room within 3 s on node {node}")
        self.held[desktop_id] = node

    def release(self, desktop_id: str) -> None:
        self._check()
        self.held.pop(desktop_id, None)

    def _check(self) -> None:
        if self.is_gone:
            raise RoomsUnavailable("Ray does not answer at 127.0.0.1:6379")
