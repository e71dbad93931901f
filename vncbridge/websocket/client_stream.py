"""The accepted WebSocket of a client, written with bounded memory."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from deskhand.vncbridge.server.websocket_protocol import EXTENSION

STUCK_SECONDS = 30.0


class CloseReason(NamedTuple):
    """A close code of RFC 6455 section 7.4, and a sentence."""

    code: int
    reason: str = ""


NORMAL = 1000
NOT_BINARY = CloseReason(1003, "Messages of this stream are binary.")
NO_STATUS = 1005
ABNORMAL = 1006
BROKEN = 1011
TRY_AGAIN_LATER = 1013


class StreamEnded(Exception):
    """The stream has ended; carries the close reason for the other side."""

    def __init__(self, close_reason: CloseReason) -> None:
        super().__init__(close_reason)
        self.close_reason = close_reason


class ClientStream:
    """An accepted WebSocket that ends the stream when its client is stuck.

    A client is stuck, and not only slow, when it has read no byte for ``stuck_seconds``.
    """

    def __init__(self, websocket: WebSocket, stuck_seconds: float = STUCK_SECONDS) -> None:
        self._websocket = websocket
        self._stuck_seconds = stuck_seconds
        extension = (websocket.scope.get("extensions") or {}).get(EXTENSION, {})
        # Without `StreamProtocol`, as in tests, the stream works with ASGI alone.
        self._waiting: Callable[[], int] = extension.get("waiting", lambda: 0)
        self._drop: Callable[[int, str], None] | None = extension.get("drop")
        self._send_bytes: Callable[[bytes], Awaitable[None]] = extension.get(
            "send", websocket.send_bytes
        )
        self._sending = 0

    @property
    def held(self) -> int:
        """Bytes that the client has not received, including those in the kernel's send queue."""
        return self._waiting() + self._sending

    async def send(self, message: bytes | str) -> None:
        """Send a message when the ones before it were accepted.

        Raises:
            StreamEnded: If the client disconnected or is stuck.
        """
        waiting = self._waiting()
        self._sending = len(message)
        while True:
            try:
                async with asyncio.timeout(self._stuck_seconds):
                    await self._send(message)
                self._sending = 0
                return
            except TimeoutError:
                before, waiting = waiting, self._waiting()
                # A client that has read something meanwhile is slow, but not stuck.
                if waiting >= before:
                    reason = f"Nothing was read for {self._stuck_seconds:g} s."
                    raise StreamEnded(CloseReason(TRY_AGAIN_LATER, reason)) from None

    async def _send(self, message: bytes | str) -> None:
        try:
            if isinstance(message, str):
                await self._websocket.send_text(message)
            else:
                await self._send_bytes(message)
        # Starlette raises RuntimeError when the socket was closed in the meantime.
        except (WebSocketDisconnect, RuntimeError, ConnectionError):
            raise StreamEnded(CloseReason(ABNORMAL)) from None

    async def receive(self) -> bytes | str:
        """Return the next message.

        Raises:
            StreamEnded: If the client disconnected.
        """
        message = await self._websocket.receive()
        if message["type"] == "websocket.disconnect":
            raise StreamEnded(CloseReason(message["code"], message.get("reason") or ""))
        data: bytes | str | None = message.get("bytes")
        return message["text"] if data is None else data

    async def close(self, close_reason: CloseReason) -> None:
        """Close with a reason; do nothing if the client has disconnected already."""
        if self._websocket.client_state is WebSocketState.DISCONNECTED:
            return
        code, reason = close_reason
        # `drop` also closes a stuck client, for which ASGI's close would wait.
        if self._drop is not None:
            self._drop(code, reason)
            return
        try:
            async with asyncio.timeout(1):
                await self._websocket.close(code, reason)
        except (TimeoutError, WebSocketDisconnect, RuntimeError):
            pass
