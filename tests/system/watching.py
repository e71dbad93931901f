"""View a desktop as a program does, in raw RFB."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from deskhand.desktop.lease.handover import LeaseEffects
from deskhand.desktop.lease.privacy import PrivacyMode
from deskhand.vncbridge.rfb.viewers import Viewers
from tests.system.services import PATIENCE, Service
from tests.vncbridge.rfb.client_messages import HELLO

T = TypeVar("T")


def ticket(desktop: Service, role: str) -> str:
    made = desktop.post("/api/v0/desktop/tickets", {"role": role}, status=201)
    return str(made["ticket"])


def stream(desktop: Service, **query: str) -> str:
    parameters = "&".join(f"{key}={value}" for key, value in query.items())
    return f"{desktop.url.replace('http', 'ws', 1)}/api/v0/desktop/vnc?{parameters}"


async def handshake(socket: ClientConnection) -> None:
    """Complete the RFB handshake, up to ServerInit."""
    await socket.send(HELLO)
    received = b""
    while len(received) < 12 + 2 + 4 + 24:
        message = await socket.recv()
        assert isinstance(message, bytes)
        received += message


class RfbReader:
    """Reads the messages of an RFB server, which arrive in any pieces."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._came = b""

    async def greet(self, hello: bytes) -> None:
        """Send the messages of the handshake, and read up to the end of ServerInit."""
        await self._socket.send(hello)
        await self.read(12 + 2 + 4 + 20)
        await self.read(int.from_bytes(await self.read(4)))

    async def read(self, size: int) -> bytes:
        """Return so many bytes."""
        while len(self._came) < size:
            message = await self._socket.recv()
            assert isinstance(message, bytes)
            self._came += message
        found, self._came = self._came[:size], self._came[size:]
        return found


async def end_of(socket: ClientConnection) -> None:
    with suppress(ConnectionClosed):
        while True:
            await socket.recv()


def played(scenario: Coroutine[Any, Any, T]) -> T:
    async def run() -> T:
        async with asyncio.timeout(3 * PATIENCE):
            return await scenario

    return asyncio.run(run())


def effects(watchers: Viewers) -> LeaseEffects:
    """Effects of a lease that only update the viewers."""
    return LeaseEffects(
        privacy=PrivacyMode(),
        selections=lambda: None,
        release_input=lambda: None,
        update_viewers=watchers.apply_control_change,
        publish=lambda kind, data: None,
        record=lambda turn: None,
        note_activity=lambda who: None,
    )
