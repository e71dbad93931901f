"""The browser's end of a stream of messages."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from deskhand.vncbridge.server.websocket_protocol import EXTENSION

STUCK_SECONDS = 30.0


class CloseReason(NamedTuple):
    """Why a stream ends: a close code of RFC 6455 section 7.4 and a sentence."""

    code: int
    reason: str = ""


NORMAL = 1000
NOT_BINARY = CloseReason(1003, "Messages of this stream are binary.")
NO_STATUS = 1005
ABNORMAL = 1006
BROKEN = 1011
TRY_AGAIN_LATER = 1013


class StreamEnded(Exception):
    """The stream is over; carries the farewell for the other side."""

    def __init__(self, farewell: CloseReason) -> None:
        super().__init__(farewell)
        self.farewell = farewell


class ClientStream:
    """An accepted WebSocket, with bounded memory and an end for watchers that are stuck.

    Slow is not stuck: a watcher is stuck when it took not one byte for ``stuck_seconds``.
    """

    def __init__(self, websocket: WebSocket, stuck_seconds: float = STUCK_SECONDS) -> None:
        self._websocket = websocket
        self._stuck_seconds = stuck_seconds
        extension = (websocket.scope.get("extensions") or {}).get(EXTENSION, {})
        self._waiting: Callable[[], int] = extension.get("waiting", lambda: 0)
        self._drop: Callable[[int, str], None] | None = extension.get("drop")
        self._send_bytes: Callable[[bytes], Awaitable[None]] = extension.get(
            "send", websocket.send_bytes
        )
        self._in_hand = 0

    @property
    def held(self) -> int:
        """How many bytes wait for the watcher, the kernel's included."""
        return self._waiting() + self._in_hand

    async def send(self, message: bytes | str) -> None:
        """Send a message as soon as the watcher took the ones before it.

        Raises:
            StreamEnded: If the watcher left or is stuck.
        """
        waiting = self._waiting()
        self._in_hand = len(message)
        while True:
            try:
                async with asyncio.timeout(self._stuck_seconds):
                    await self._send(message)
                self._in_hand = 0
                return
            except TimeoutError:
                before, waiting = waiting, self._waiting()
                if waiting >= before:
                    reason = f"Nothing was read for {self._stuck_seconds:g} s."
                    raise StreamEnded(CloseReason(TRY_AGAIN_LATER, reason)) from None

    async def _send(self, message: bytes | str) -> None:
        try:
            if isinstance(message, str):
                await self._websocket.send_text(message)
            else:
                await self._send_bytes(message)
        # Starlette raises RuntimeError for a socket that was closed meanwhile.
        except (WebSocketDisconnect, RuntimeError, ConnectionError):
            raise StreamEnded(CloseReason(ABNORMAL)) from None

    async def receive(self) -> bytes | str:
        """Return the next message.

        Raises:
            StreamEnded: If the watcher left.
        """
        message = await self._websocket.receive()
        if message["type"] == "websocket.disconnect":
            raise StreamEnded(CloseReason(message["code"], message.get("reason") or ""))
        data: bytes | str | None = message.get("bytes")
        return message["text"] if data is None else data

    async def close(self, farewell: CloseReason) -> None:
        """Say why the stream ends; nothing happens when the watcher has left already."""
        if self._websocket.client_state is WebSocketState.DISCONNECTED:
            return
        code, reason = farewell
        if self._drop is not None:
            self._drop(code, reason)
            return
        try:
            async with asyncio.timeout(1):
                await self._websocket.close(code, reason)
        except (TimeoutError, WebSocketDisconnect, RuntimeError):
            pass
