"""What a client of an RFB 3.8 server says, cut into messages. No input or output here.

Sources: RFC 6143, and the community's protocol description (rfbproto) for the extensions. Only
what can be measured can be passed on: a message of unknown type ends the stream.
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from deskhand.vncbridge.errors import ProtocolBroken

VERSIONS = {b"RFB 003.003\n": 3, b"RFB 003.007\n": 7, b"RFB 003.008\n": 8}
SECURITY_NONE = 1
SHARED = b"\x01"
MOST_ENCODINGS = 1024
MOST_SCREENS = 64
LONGEST_FENCE = 64
MOST_HELD = 256
LONGEST_CUT_TEXT = 16 * 1024 * 1024
"""Bytes. Nothing of a cut text is kept: it is counted away as it comes."""

# They would change what the client says later: buttons in a second byte (-316), sound (-259),
# other devices (-305). What the server never hears of, it never agrees to.
DISABLED_ENCODINGS = frozenset({-316, -305, -259})


class MessageKind(Enum):
    """What a message is about."""

    VERSION = "version"
    SECURITY = "security"
    INIT = "init"
    PIXEL_FORMAT = "pixel format"
    ENCODINGS = "encodings"
    UPDATE_REQUEST = "update request"
    KEY = "key"
    POINTER = "pointer"
    CUT_TEXT = "cut text"
    CONTINUOUS_UPDATES = "continuous updates"
    FENCE = "fence"
    POWER = "power"
    RESIZE = "resize"


@dataclass(frozen=True)
class ClientMessage:
    """One message, as it is to be passed on."""

    kind: MessageKind
    raw: bytes
    """Empty for a cut text, which is not kept."""
    down: bool = False
    """Of a key: whether it is pressed."""
    buttons: int = 0
    """Of a pointer: which buttons are down, as bits."""


class _Shape(NamedTuple):
    """How long a message of one type is."""

    kind: MessageKind
    head: int
    """Bytes that tell the length."""
    length: Callable[[bytes], int]
    """Of the whole message, from its head."""


class ClientParser:
    """Cuts one client's bytes into messages, however they are cut on their way.

    Holds at most one message that has not come whole, and never a cut text.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._expects = MessageKind.VERSION
        self._skip = 0

    @property
    def greeted(self) -> bool:
        """Whether the handshake is over."""
        return self._expects is MessageKind.PIXEL_FORMAT

    @property
    def midway(self) -> bool:
        """Whether more has to come before anything makes sense."""
        return bool(self._rest or self._skip) or not self.greeted

    def feed(self, data: bytes) -> Iterator[ClientMessage]:
        """Yield the messages that are whole with these bytes.

        Raises:
            ProtocolBroken: If this is not RFB as we know it; the stream is of no use then.
        """
        view = memoryview(data)
        while len(view):
            if self._skip:
                taken = min(self._skip, len(view))
                self._skip -= taken
                view = view[taken:]
                if not self._skip:
                    yield ClientMessage(MessageKind.CUT_TEXT, b"")
                continue
            taken = min(self._wanted() - len(self._rest), len(view))
            self._rest += view[:taken]
            view = view[taken:]
            self._check_early()
            if len(self._rest) == self._wanted():
                whole = bytes(self._rest)
                self._rest.clear()
                yield from self._message(whole)

    def _wanted(self) -> int:
        """How many bytes are needed to know more: the head's, then the whole message's."""
        if self._expects is not MessageKind.PIXEL_FORMAT:
            return 12 if self._expects is MessageKind.VERSION else 1
        if not self._rest:
            return 1
        shape = _shape(self._rest)
        if len(self._rest) < shape.head:
            return shape.head
        return shape.head if shape.kind is MessageKind.CUT_TEXT else shape.length(bytes(self._rest))

    def _check_early(self) -> None:
        if self._expects is MessageKind.VERSION and not any(
            version.startswith(self._rest) for version in VERSIONS
        ):
            raise ProtocolBroken("This is not RFB 3.3, 3.7 or 3.8.")

    def _message(self, raw: bytes) -> Iterator[ClientMessage]:
        match self._expects:
            case MessageKind.VERSION:
                # A 3.3 server chooses the security type itself.
                self._expects = MessageKind.INIT if VERSIONS[raw] == 3 else MessageKind.SECURITY
                yield ClientMessage(MessageKind.VERSION, raw)
            case MessageKind.SECURITY:
                if raw[0] != SECURITY_NONE:
                    raise ProtocolBroken(f"Security type {raw[0]} was not offered.")
                self._expects = MessageKind.INIT
                yield ClientMessage(MessageKind.SECURITY, raw)
            case MessageKind.INIT:
                self._expects = MessageKind.PIXEL_FORMAT
                yield ClientMessage(MessageKind.INIT, SHARED)
            case _:
                yield from self._spoken(raw)

    def _spoken(self, raw: bytes) -> Iterator[ClientMessage]:
        shape = _shape(raw)
        if shape.kind is not MessageKind.CUT_TEXT:
            yield _read(shape.kind, raw)
            return
        self._skip = shape.length(raw) - shape.head
        if not self._skip:
            yield ClientMessage(MessageKind.CUT_TEXT, b"")


def _fixed(length: int) -> Callable[[bytes], int]:
    return lambda _: length


def _encodings(head: bytes) -> int:
    count = int.from_bytes(head[2:4])
    if count > MOST_ENCODINGS:
        raise ProtocolBroken(f"{count} encodings; at most {MOST_ENCODINGS} are taken.")
    return 4 + 4 * count


def _cut_text(head: bytes) -> int:
    # A negative length is that of an extended clipboard message.
    length = abs(int.from_bytes(head[4:8], signed=True))
    if length > LONGEST_CUT_TEXT:
        raise ProtocolBroken(f"A cut text of {length} bytes; {LONGEST_CUT_TEXT} are taken.")
    return 8 + length


def _fence(head: bytes) -> int:
    if head[8] > LONGEST_FENCE:
        raise ProtocolBroken(f"A fence of {head[8]} bytes; at most {LONGEST_FENCE} are allowed.")
    return 9 + head[8]


def _screens(head: bytes) -> int:
    if head[6] > MOST_SCREENS:
        raise ProtocolBroken(f"{head[6]} screens; at most {MOST_SCREENS} are taken.")
    return 8 + 16 * head[6]


def _qemu(head: bytes) -> int:
    if head[1] != 0:
        raise ProtocolBroken(f"QEMU message {head[1]} was not agreed on.")
    return 12


SHAPES: Mapping[int, _Shape] = {
    0: _Shape(MessageKind.PIXEL_FORMAT, 1, _fixed(20)),
    2: _Shape(MessageKind.ENCODINGS, 4, _encodings),
    3: _Shape(MessageKind.UPDATE_REQUEST, 1, _fixed(10)),
    4: _Shape(MessageKind.KEY, 1, _fixed(8)),
    5: _Shape(MessageKind.POINTER, 1, _fixed(6)),
    6: _Shape(MessageKind.CUT_TEXT, 8, _cut_text),
    150: _Shape(MessageKind.CONTINUOUS_UPDATES, 1, _fixed(10)),
    248: _Shape(MessageKind.FENCE, 9, _fence),
    250: _Shape(MessageKind.POWER, 1, _fixed(4)),
    251: _Shape(MessageKind.RESIZE, 8, _screens),
    255: _Shape(MessageKind.KEY, 2, _qemu),
}
"""The messages of a session by their first byte."""


def _shape(message: bytes | bytearray) -> _Shape:
    try:
        return SHAPES[message[0]]
    except KeyError:
        raise ProtocolBroken(f"Message type {message[0]} is unknown.") from None


def _read(kind: MessageKind, raw: bytes) -> ClientMessage:
    match kind:
        case MessageKind.KEY:
            return ClientMessage(kind, raw, down=any(raw[2:4]) if raw[0] == 255 else raw[1] != 0)
        case MessageKind.POINTER:
            return ClientMessage(kind, raw, buttons=raw[1])
        case MessageKind.ENCODINGS:
            return ClientMessage(kind, _without_unspoken(raw))
        case _:
            return ClientMessage(kind, raw)


def _without_unspoken(raw: bytes) -> bytes:
    asked = [number for (number,) in struct.iter_unpack(">i", raw[4:])]
    kept = [number for number in asked if number not in DISABLED_ENCODINGS]
    return raw[:2] + struct.pack(f">H{len(kept)}i", len(kept), *kept)


class Held:
    """The keys and buttons that one client holds down, and how it lets go of them."""

    def __init__(self) -> None:
        self._keys: set[bytes] = set()
        self._pointer = b""

    def note(self, message: ClientMessage) -> None:
        """Take a message into account that is passed on.

        Raises:
            ProtocolBroken: If more keys are held than any keyboard has.
        """
        if message.kind is MessageKind.KEY:
            released = _released(message.raw)
            self._keys.discard(released)
            if message.down:
                self._keys.add(released)
            if len(self._keys) > MOST_HELD:
                raise ProtocolBroken(f"More than {MOST_HELD} keys are held down.")
        elif message.kind is MessageKind.POINTER:
            up = message.raw[:1] + b"\0" + message.raw[2:]
            self._pointer = up if message.buttons else b""

    def release(self) -> bytes:
        """Return the messages that let go of everything; then nothing is held."""
        said = b"".join([*sorted(self._keys), self._pointer])
        self._keys.clear()
        self._pointer = b""
        return said


def _released(raw: bytes) -> bytes:
    if raw[0] == 255:
        return raw[:2] + bytes(2) + raw[4:]
    return raw[:1] + bytes(3) + raw[4:]
