"""Parser of the messages that an RFB client sends, without I/O.

The parser is a state machine. Its state, ``_expects``, is the kind of the next message:

- ``VERSION``: the 12 bytes of ProtocolVersion. A 3.3 client continues with ``INIT``, because the
  server chooses its security type; those of 3.7 and 3.8 with ``SECURITY``. Versions that were not
  published, such as 3.889 and 3.5, are passed on as 3.3 (RFC 6143, 7.1.1).
- ``SECURITY``: one byte, which must be the type None, the only one our server offers.
- ``INIT``: one byte, ClientInit. It is replaced by "shared", so that a viewer never disconnects
  the others.
- ``PIXEL_FORMAT``: the handshake is done. Any message of ``SHAPES`` may follow, for ever.

Invariants:

- Messages are passed on only whole, in order, and with the bytes that came (except such versions,
  ClientInit, and SetEncodings, from which ``DISABLED_ENCODINGS`` are removed). So a message that a
  role does not permit can be dropped without breaking the stream.
- The length of every message is known from its head, and each length has a limit. A message of
  unknown type cannot be measured, so it ends the stream with ``ProtocolBroken``.
- At most one incomplete message is held. The text of a ClientCutText of more than ``HELD_CUT_TEXT``
  bytes is skipped, not held.

Sources: RFC 6143, and the community's protocol description (rfbproto) for the extensions.
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from deskhand.vncbridge.errors import ProtocolBroken

RFB_3_3, RFB_3_8 = b"RFB 003.003\n", b"RFB 003.008\n"
VERSIONS_WITH_SECURITY = (b"RFB 003.007\n", RFB_3_8)
"""Versions in which the client chooses the security type."""
_VERSION = b"RFB 003.ddd\n"
_DIGIT = ord("d")
SECURITY_NONE = 1
SHARED = b"\x01"
EXTENDED_DESKTOP_SIZE = -308
EXTENDED_CLIPBOARD = -0x3F5E1A32
MOST_ENCODINGS = 1024
MOST_SCREENS = 64
LONGEST_FENCE = 64
MOST_HELD = 256
COMMAND_MODIFIERS = frozenset({0xFFE3, 0xFFE4, *range(0xFFE7, 0xFFED)})
"""Keysyms of Control, Meta, Alt and Super (keysymdef.h)."""
LONGEST_CUT_TEXT = 16 * 1024 * 1024
"""Bytes. The parser skips the text of a long one as it arrives."""
HELD_CUT_TEXT = 1024 * 1024
"""Bytes of the longest text that is held."""

# The disabled encodings change the format of later client messages: buttons in a second byte
# (-316), sound (-259), other devices (-305). A server that never receives them never enables them.
# Extended Clipboard is answered here (`clipboard`).
DISABLED_ENCODINGS = frozenset({-316, -305, -259, EXTENDED_CLIPBOARD})


class MessageKind(Enum):
    """The kind of a client message."""

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
    """One message, in the bytes to pass on."""

    kind: MessageKind
    raw: bytes
    """Empty for a cut text that is too long for the clipboard, and was skipped."""
    down: bool = False
    """True if a key is pressed, for a key message."""
    buttons: int = 0
    """The buttons that are down, as a bit mask, for a pointer message."""
    encodings: frozenset[int] = frozenset()
    """The encodings that the client supports, for a message of these."""


class _Shape(NamedTuple):
    """The length of the messages of one type."""

    kind: MessageKind
    head: int
    """Bytes from which the length is known."""
    length: Callable[[bytes], int]
    """Returns the length of the whole message from its head."""


class ClientParser:
    """Splits the bytes of one client into messages, in whatever pieces they arrive."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._expects = MessageKind.VERSION
        self._skip = 0

    @property
    def handshake_done(self) -> bool:
        """True once the handshake is complete."""
        return self._expects is MessageKind.PIXEL_FORMAT

    @property
    def mid_message(self) -> bool:
        """True while the handshake or a message is incomplete."""
        return bool(self._rest or self._skip) or not self.handshake_done

    def feed(self, data: bytes) -> Iterator[ClientMessage]:
        """Yield the messages that these bytes complete.

        Raises:
            ProtocolBroken: If the bytes are not RFB; the parser cannot be used after that.
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
            taken = min(self._needed() - len(self._rest), len(view))
            self._rest += view[:taken]
            view = view[taken:]
            self._check_early()
            if len(self._rest) == self._needed():
                whole = bytes(self._rest)
                self._rest.clear()
                yield from self._message(whole)

    def _needed(self) -> int:
        """Return the length to wait for: of the head, then of the whole message."""
        if self._expects is not MessageKind.PIXEL_FORMAT:
            return 12 if self._expects is MessageKind.VERSION else 1
        if not self._rest:
            return 1
        shape = _shape(self._rest)
        if len(self._rest) < shape.head:
            return shape.head
        length = shape.length(bytes(self._rest[: shape.head]))
        # Such a cut text ends at its head here: `_session_message` skips the text.
        return shape.head if _is_skipped(shape, length) else length

    def _check_early(self) -> None:
        # A client of another protocol is refused at its first wrong byte, instead of after a
        # timeout.
        if self._expects is MessageKind.VERSION and not all(
            bytes([found]).isdigit() if wanted == _DIGIT else found == wanted
            for found, wanted in zip(self._rest, _VERSION, strict=False)
        ):
            raise ProtocolBroken("This is not RFB 3.3, 3.7 or 3.8.")

    def _message(self, raw: bytes) -> Iterator[ClientMessage]:
        match self._expects:
            case MessageKind.VERSION:
                chooses = raw in VERSIONS_WITH_SECURITY
                self._expects = MessageKind.SECURITY if chooses else MessageKind.INIT
                yield ClientMessage(MessageKind.VERSION, raw if chooses else RFB_3_3)
            case MessageKind.SECURITY:
                if raw[0] != SECURITY_NONE:
                    raise ProtocolBroken(f"Security type {raw[0]} was not offered.")
                self._expects = MessageKind.INIT
                yield ClientMessage(MessageKind.SECURITY, raw)
            case MessageKind.INIT:
                self._expects = MessageKind.PIXEL_FORMAT
                yield ClientMessage(MessageKind.INIT, SHARED)
            case _:
                yield from self._session_message(raw)

    def _session_message(self, raw: bytes) -> Iterator[ClientMessage]:
        shape = _shape(raw)
        length = shape.length(raw)
        if _is_skipped(shape, length):
            # The message counts as received when its text has been skipped, so the order is kept.
            self._skip = length - shape.head
        else:
            yield _read(shape.kind, raw)


def _is_skipped(shape: _Shape, length: int) -> bool:
    return shape.kind is MessageKind.CUT_TEXT and length > shape.head + HELD_CUT_TEXT


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
    # Key events with scan codes (QEMU), which noVNC sends when the server offers them.
    255: _Shape(MessageKind.KEY, 2, _qemu),
}
"""The messages that may follow the handshake, by their first byte."""


def _shape(message: bytes | bytearray) -> _Shape:
    try:
        return SHAPES[message[0]]
    except KeyError:
        raise ProtocolBroken(f"Message type {message[0]} is unknown.") from None


def _read(kind: MessageKind, raw: bytes) -> ClientMessage:
    match kind:
        case MessageKind.KEY:
            # The flag is in two bytes of QEMU's key event, and in one byte of RFC 6143's.
            return ClientMessage(kind, raw, down=any(raw[2:4]) if raw[0] == 255 else raw[1] != 0)
        case MessageKind.POINTER:
            return ClientMessage(kind, raw, buttons=raw[1])
        case MessageKind.ENCODINGS:
            requested = [number for (number,) in struct.iter_unpack(">i", raw[4:])]
            kept = [number for number in requested if number not in DISABLED_ENCODINGS]
            passed = raw[:2] + struct.pack(f">H{len(kept)}i", len(kept), *kept)
            return ClientMessage(kind, passed, encodings=frozenset(requested))
        case _:
            return ClientMessage(kind, raw)


class Held:
    """The keys and buttons that one client holds down."""

    def __init__(self) -> None:
        self._keys: set[bytes] = set()
        self._pointer = b""

    def note(self, message: ClientMessage) -> None:
        """Update the state with a message that is passed on.

        Raises:
            ProtocolBroken: If more keys are held than any keyboard has.
        """
        if message.kind is MessageKind.KEY:
            released = _released(message.raw)
            # The key is identified by the message that releases it: keysym and, from QEMU, scan
            # code.
            self._keys.discard(released)
            if message.down:
                self._keys.add(released)
            if len(self._keys) > MOST_HELD:
                raise ProtocolBroken(f"More than {MOST_HELD} keys are held down.")
        elif message.kind is MessageKind.POINTER:
            # The release repeats the last position, so that the pointer stays where it is.
            up = message.raw[:1] + b"\0" + message.raw[2:]
            self._pointer = up if message.buttons else b""

    @property
    def command(self) -> bool:
        """True while Control, Meta, Alt or Super is down: a key is a shortcut then, not text."""
        return any(int.from_bytes(key[4:8]) in COMMAND_MODIFIERS for key in self._keys)

    def release(self) -> bytes:
        """Return the messages that release all keys and buttons; then none is held."""
        messages = b"".join([*sorted(self._keys), self._pointer])
        self._keys.clear()
        self._pointer = b""
        return messages


def _released(raw: bytes) -> bytes:
    if raw[0] == 255:
        return raw[:2] + bytes(2) + raw[4:]
    return raw[:1] + bytes(3) + raw[4:]
