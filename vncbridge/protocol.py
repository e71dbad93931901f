"""uvicorn's WebSocket engine, with what a stream of pictures needs beside it.

Give the class to uvicorn as ``ws=StreamProtocol``. Beside a larger write buffer it gives the
application two functions, in the ASGI scope's extension ``deskhand.stream``:

``waiting() -> int``
    how many bytes the peer has yet to take;
``drop(code, reason)``
    close without waiting for room in the write buffer. ASGI's own ``websocket.close`` waits
    for the peer to read, which is no way to get rid of one that does not.

At shutdown every peer is sent 1001 (RFC 6455: going away) and has a second to answer.
"""

import array
import fcntl
import termios
from asyncio.transports import BaseTransport

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

EXTENSION = "deskhand.stream"
GOING_AWAY = 1001
SHUTDOWN_SECONDS = 1.0
DROP_SECONDS = 10.0
"""How long a dropped peer may take to read what is under way, the farewell included."""
WRITE_LIMIT = 1024 * 1024


class StreamProtocol(WebSocketsSansIOProtocol):
    """One WebSocket connection."""

    def connection_made(self, transport: BaseTransport) -> None:
        """Take over the connection from uvicorn's HTTP protocol."""
        super().connection_made(transport)
        self.transport.set_write_buffer_limits(high=WRITE_LIMIT)

    def handle_connect(self, event: Request) -> None:
        """Start the application with the extension in its scope."""
        super().handle_connect(event)
        if self.response.status_code == 101:
            # The application's task exists but has not begun to run.
            ours: dict[object, object] = {"waiting": self.waiting, "drop": self.drop}
            self.scope["extensions"] = {**(self.scope["extensions"] or {}), EXTENSION: ours}

    def waiting(self) -> int:
        """Return how many bytes were written that the peer has not acknowledged."""
        if self.transport.is_closing():
            return 0
        in_kernel = array.array("i", [0])
        fcntl.ioctl(self.transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, in_kernel)
        return self.transport.get_write_buffer_size() + in_kernel[0]

    def drop(self, code: int, reason: str, seconds: float = DROP_SECONDS) -> None:
        """Queue a close frame behind what is under way; cut the connection after ``seconds``."""
        if self.close_sent or self.transport.is_closing():
            return
        self.stop_keepalive()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        self._cut_after(seconds)

    def shutdown(self) -> None:
        """End the connection because the server ends."""
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
