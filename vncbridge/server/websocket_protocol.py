"""uvicorn's WebSocket protocol, extended for streams of pictures.

Pass the class to uvicorn as ``ws=StreamProtocol``. It provides the application with three functions
in the ASGI scope's extension ``deskhand.stream``:

``send(data)``
    send bytes as one message, as ``websocket.send`` does with more copies of them;
``waiting() -> int``
    return the bytes that the peer has not acknowledged;
``drop(code, reason)``
    close without waiting for room in the write buffer. ASGI's own ``websocket.close`` waits
    for the peer to read, which a stuck peer never does.

The write buffers, here and in the kernel, are small: a slow peer gets recent pictures, and pings
reach it. At shutdown every peer is sent 1001 (RFC 6455: going away) and has a second to answer. A
peer that violates the protocol gets a close frame with the reason, even if it is still sending.
"""

import array
import fcntl
import socket
import struct
import termios
from asyncio.transports import BaseTransport
from typing import Any

from starlette.websockets import WebSocketDisconnect
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Request

EXTENSION = "deskhand.stream"
GOING_AWAY = 1001
SHUTDOWN_SECONDS = 1.0
DROP_SECONDS = 10.0
"""Timeout for a dropped peer to read what is buffered, including the close frame."""
WRITE_LIMIT = 256 * 1024
"""Bytes in the transport's write buffer."""
UNSENT_LIMIT = 256 * 1024
"""Bytes in the kernel that are not sent yet."""
TCP_NOTSENT_LOWAT = 25
"""Socket option of Linux (tcp(7)); in Python's ``socket`` from 3.12 on."""
SILENT = 1011
"""Close code of the websockets library when a ping is not answered."""


class StreamProtocol(WebSocketsSansIOProtocol):
    """One WebSocket connection."""

    def connection_made(self, transport: BaseTransport) -> None:
        """Take over the connection from uvicorn's HTTP protocol."""
        super().connection_made(transport)
        self.transport.set_write_buffer_limits(high=WRITE_LIMIT)
        end = self.transport.get_extra_info("socket")
        # Unix sockets have no such option.
        if end.family in (socket.AF_INET, socket.AF_INET6):
            end.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, UNSENT_LIMIT)

    def handle_connect(self, event: Request) -> None:
        """Start the application with the extension in its scope."""
        super().handle_connect(event)
        if self.response.status_code == 101:
            # The application's task exists but has not begun to run.
            ours: dict[object, object] = {
                "send": self.send_bytes,
                "waiting": self.waiting,
                "drop": self.drop,
            }
            self.scope["extensions"] = {**(self.scope["extensions"] or {}), EXTENSION: ours}

    async def run_asgi(self) -> None:
        """Run the application; a peer that left before the handshake is no error of it."""
        application = self.app

        async def run(scope: Any, receive: Any, send: Any) -> None:
            try:
                await application(scope, receive, send)
            except WebSocketDisconnect as error:
                raise ClientDisconnected from error
            # Without this uvicorn reports a handshake that was not completed, and answers it.
            if not self.handshake_complete and self.transport.is_closing():
                raise ClientDisconnected

        self.app = run
        await super().run_asgi()

    async def send(self, message: ASGISendEvent) -> None:
        """Send an event; the whole answer of a refused handshake completes the handshake."""
        await super().send(message)
        # Without this uvicorn reports each refusal as a handshake that was not completed.
        if self.initial_response is not None and self.close_sent:
            self.handshake_complete = True

    async def send_bytes(self, data: bytes) -> None:
        """Send a binary message when there is room for it.

        Raises:
            ConnectionError: If the connection is closed or closing.
        """
        await self.writable.wait()
        if self.disconnected or self.close_sent:
            raise ConnectionResetError("The peer has left.")
        self.transport.write(_head(len(data)) + data)

    def waiting(self) -> int:
        """Return the bytes that were written and that the peer has not acknowledged."""
        # The socket may have no descriptor any more.
        if self.transport.is_closing():
            return 0
        in_kernel = array.array("i", [0])
        fcntl.ioctl(self.transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, in_kernel)
        return self.transport.get_write_buffer_size() + in_kernel[0]

    def drop(self, code: int, reason: str, seconds: float = DROP_SECONDS) -> None:
        """Queue a close frame behind the buffered data; abort the connection after ``seconds``."""
        if self.close_sent or self.transport.is_closing():
            return
        self.stop_keepalive()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        # The peer's own close frame can only be read while reading is not paused.
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        self._cut_after(seconds)

    def handle_bytes(self, event: Frame) -> None:
        """Pass each frame on as it comes: the stream does not depend on message boundaries."""
        super().handle_bytes(event)
        self._pass_fragment(event)

    def handle_cont(self, event: Frame) -> None:
        """Do the same with continuation frames."""
        super().handle_cont(event)
        self._pass_fragment(event)

    def _pass_fragment(self, event: Frame) -> None:
        if self.curr_msg_data_type == "bytes" and not event.fin:
            self.send_receive_event_to_app()

    def keepalive_timeout(self) -> None:
        """Drop a peer that did not answer a ping: it may not read a close frame either."""
        self.drop(SILENT, f"A ping was not answered for {self.config.ws_ping_timeout:g} s.")

    def handle_parser_exception(self) -> None:
        """Send the close frame with the reason, and read on, so that the peer can receive it."""
        if self.close_sent or self.conn.close_sent is None:
            return
        self.stop_keepalive()
        code, reason = self.conn.close_sent.code, self.conn.close_sent.reason
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        # A half-close, as RFC 6455 section 7.1.1 advises: closing while the peer still sends would
        # reset the connection, and the close frame would be lost.
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._cut_after(DROP_SECONDS)

    def shutdown(self) -> None:
        """Close the connection because the server shuts down."""
        if not self.handshake_complete:
            super().shutdown()
        elif self.close_sent:
            self._cut_after(SHUTDOWN_SECONDS)
        else:
            self.drop(GOING_AWAY, "The service is shutting down.", SHUTDOWN_SECONDS)

    def _cut_after(self, seconds: float) -> None:
        if self.close_timer is not None:
            self.close_timer.cancel()
        self.close_timer = self.loop.call_later(seconds, self.transport.abort)


def _head(length: int) -> bytes:
    """Return the head of a whole, unmasked binary message, RFC 6455 section 5.2."""
    if length < 126:
        return struct.pack(">BB", 0x82, length)
    if length < 65536:
        return struct.pack(">BBH", 0x82, 126, length)
    return struct.pack(">BBQ", 0x82, 127, length)
