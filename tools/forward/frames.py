"""Frames of a WebSocket as its client reads and writes them (RFC 6455, section 5). Pure.

A VNC stream does not depend on the bounds of messages, so the payload of a data frame is passed on
in the pieces in which it arrives, without a copy.
"""

from dataclasses import dataclass

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
LONGEST_CONTROL = 125
_FIN, _MASKED, _RESERVED = 0x80, 0x80, 0x70
_LENGTHS = {126: 2, 127: 8}
_DATA = (CONTINUATION, TEXT, BINARY)


class BadFrame(Exception):
    """The server has sent something that is no frame of RFC 6455."""


@dataclass(frozen=True)
class ControlFrame:
    """A ping, a pong or the close of the connection."""

    opcode: int
    payload: bytes

    @property
    def reason(self) -> str:
        """The reason of a close; empty if it has none."""
        return self.payload[2:].decode(errors="replace")


class WebSocketFrames:
    """Reads the frames of a server, which arrive in pieces of any size."""

    def __init__(self) -> None:
        self._head = b""
        self._left = 0
        """Bytes of the present data frame that have not arrived."""

    def feed(self, data: bytes) -> list[memoryview | ControlFrame]:
        """Return the payload of data frames and the control frames, in their order.

        Raises:
            BadFrame: If the bytes are no frames.
        """
        found: list[memoryview | ControlFrame] = []
        rest = memoryview(self._head + data if self._head else data)
        self._head = b""
        while rest:
            if self._left:
                piece = rest[: self._left]
                found.append(piece)
                self._left -= len(piece)
                rest = rest[len(piece) :]
                continue
            size = _head_size(rest)
            opcode = rest[0] & 15
            complete = size <= len(rest)
            if complete and opcode in _DATA:
                self._left = _length(rest)
            elif complete and size + rest[1] <= len(rest):
                end = size + rest[1]
                found.append(ControlFrame(opcode, bytes(rest[size:end])))
                size = end
            else:
                self._head = bytes(rest)
                break
            rest = rest[size:]
        return found


def client_frame(payload: bytes, mask: bytes, opcode: int = BINARY) -> bytes:
    """Return one whole frame; ``mask`` are four random bytes (section 5.3)."""
    length = len(payload)
    if length <= LONGEST_CONTROL:
        size = bytes((_MASKED | length,))
    elif length < 1 << 16:
        size = bytes((_MASKED | 126,)) + length.to_bytes(2)
    else:
        size = bytes((_MASKED | 127,)) + length.to_bytes(8)
    repeated = (mask * (length // 4 + 1))[:length]
    masked = int.from_bytes(payload) ^ int.from_bytes(repeated)
    return bytes((_FIN | opcode,)) + size + mask + masked.to_bytes(length)


def _head_size(head: memoryview) -> int:
    """Return the length of the frame's head, as far as it is known.

    Raises:
        BadFrame: If it is malformed.
    """
    opcode = head[0] & 15
    if head[0] & _RESERVED or opcode not in (*_DATA, CLOSE, PING, PONG):
        raise BadFrame("the frame has a reserved bit or opcode")
    if len(head) == 1:
        return 2
    if head[1] & _MASKED:
        raise BadFrame("the frame of a server is masked")
    if opcode not in _DATA and (head[1] > LONGEST_CONTROL or not head[0] & _FIN):
        raise BadFrame("a control frame is too long or fragmented")
    return 2 + _LENGTHS.get(head[1], 0)


def _length(head: memoryview) -> int:
    extended = _LENGTHS.get(head[1], 0)
    return int.from_bytes(head[2 : 2 + extended]) if extended else head[1]
