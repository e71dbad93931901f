"""Calls to widgets over a connection to the AT-SPI bus, sent and answered many at a time."""

from collections.abc import Sequence

from jeepney.io.blocking import DBusConnection

from .interfaces import Address
from .widget_calls import FIELDS, Reply, ReplyStream, calls

_CHUNK = 256 * 1024


class CallStream:
    """The only reader of its connection, which has a parser of `bus.ShortMessages`, from now on."""

    def __init__(self, bus: DBusConnection) -> None:
        self._bus = bus
        # Whole messages that the parser has buffered are older than all calls.
        self._stream = ReplyStream(bus.parser.splitter)
        self.received = 0
        """Bytes that have arrived."""

    @property
    def shortened(self) -> bool:
        """True if a reply was too long."""
        return self._stream.shortened

    def send(self, widgets: Sequence[Address], timeout: float) -> list[int]:
        """Send the calls of `FIELDS` to each widget; return the serial of the first of each.

        Raises:
            TimeoutError: If the bus does not take them in time; then the connection is useless.
            OSError: If the bus is lost.
        """
        serials: list[int] = []
        messages: list[bytes] = []
        for widget in widgets:
            first, *_ = [next(self._bus.outgoing_serial) for _ in FIELDS]
            serials.append(first)
            messages.append(calls(widget, first))
        self._limit(timeout)
        self._bus.sock.sendall(b"".join(messages))
        return serials

    def replies(self, timeout: float) -> list[Reply]:
        """Return the replies that have arrived, after a wait for some bytes.

        Raises:
            TimeoutError: If nothing arrives in time.
            OSError: If the bus is lost.
        """
        self._limit(timeout)
        data = self._bus.sock.recv(_CHUNK)
        if not data:
            raise ConnectionResetError("the bus has closed the connection")
        self.received += len(data)
        return self._stream.add(data)

    def _limit(self, timeout: float) -> None:
        # Zero would mean that the socket does not block, which is another error.
        if timeout <= 0:
            raise TimeoutError
        self._bus.sock.settimeout(timeout)
