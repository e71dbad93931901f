"""Forwarding of VNC: bytes of a viewer on one side, a WebSocket on the other."""

import asyncio
import secrets
import sys
from collections.abc import Mapping
from typing import Any, Literal

from deskhand.desktop.client.http import DesktopClient

from .errors import UpgradeRefused
from .frames import CLOSE, PING, PONG, BadFrame, ControlFrame, WebSocketFrames, client_frame
from .upstream import Streams, Upstream

CHUNK = 256 * 1024
"""Bytes that asyncio reads at once."""
Role = Literal["view", "control", "agent"]


class VncForward:
    """Connects each viewer with the screen of one desktop.

    ``root`` is the path of the desktop's routes. In the role ``control`` a connection takes the
    lease for the person ``name`` at once; without a role it takes it when something is pressed.
    """

    def __init__(
        self, upstream: Upstream, client: DesktopClient, root: str, name: str, role: Role | None
    ) -> None:
        self._upstream = upstream
        self._client = client
        self._root = root
        self._name = name
        self._role = role

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Copy both ways until one side ends."""
        params = {"name": self._name} | ({"role": self._role} if self._role else {})
        try:
            async with self._upstream.websocket(f"{self._root}/vnc", params) as screen:
                if self._role == "control":
                    await self._take_control()
                await _both_ways((reader, writer), screen)
        except UpgradeRefused as error:
            # Before RFB begins a viewer only sees that the connection ends.
            _report(f"the viewer was refused: {error}")
        except BadFrame as error:
            _report(f"the stream of the desktop is broken: {error}")

    async def _take_control(self) -> None:
        body = {"action": "take", "name": self._name}
        state: Mapping[str, Any] = await self._client.request(
            "POST", f"{self._root}/lease", json=body
        )
        if state.get("asked"):
            _report(f"{state['holder'].get('name', 'a person')} is in control and was asked for it")


async def _both_ways(viewer: Streams, screen: Streams) -> None:
    ways = [
        asyncio.create_task(_to_screen(viewer[0], screen[1])),
        asyncio.create_task(_to_viewer(screen, viewer[1])),
    ]
    try:
        done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in done:
            way.result()
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


async def _to_screen(reader: asyncio.StreamReader, screen: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(CHUNK):
        screen.write(client_frame(chunk, secrets.token_bytes(4)))
        await screen.drain()
    # 1001: the viewer is going away (RFC 6455, section 7.4.1).
    screen.write(client_frame((1001).to_bytes(2), secrets.token_bytes(4), CLOSE))


async def _to_viewer(screen: Streams, writer: asyncio.StreamWriter) -> None:
    reader, answers = screen
    frames = WebSocketFrames()
    while data := await reader.read(CHUNK):
        for found in frames.feed(data):
            if not isinstance(found, ControlFrame):
                writer.write(found)
            elif found.opcode == PING:
                answers.write(client_frame(found.payload, secrets.token_bytes(4), PONG))
            elif found.opcode == CLOSE:
                if found.reason:
                    _report(found.reason)
                return
        await writer.drain()


def _report(text: str) -> None:
    print(f"deskhand: {text}", file=sys.stderr, flush=True)  # noqa: T201 - a line for the person
