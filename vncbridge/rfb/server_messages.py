"""Parser of the messages that an RFB server sends: finds where each one ends, without I/O.

A message for a viewer, such as a cut text, can be inserted only between two messages of its
server. Pixels are counted and not read. The lengths of rectangles depend on the pixel format, which
a client changes (SetPixelFormat) at a moment when its server sends no update: the new format
begins with the next update or, after continuous updates were disabled, with their end
(EndOfContinuousUpdates), as clients themselves assume.

At a message or an encoding that it cannot measure the parser gives up: the rest of the stream is
passed on unread, and nothing is inserted any more.

Sources: RFC 6143, and the community's protocol description (rfbproto) for the extensions.
"""

import struct
from collections.abc import Callable, Generator, Mapping
from typing import NamedTuple

from .messages import RFB_3_3, RFB_3_8, SECURITY_NONE, ClientMessage, MessageKind

_UNTIL_LAST = 0xFFFF
"""Number of rectangles of an update that ends with LastRect."""
_LAST = -224
_TIGHT_UNCOMPRESSED = 12
"""Bytes below which a rectangle of Tight is not compressed."""
_TILE = 16
"""Pixels of a side of Hextile's tiles."""


class _Skip(NamedTuple):
    """Bytes that are counted and not kept."""

    length: int


class _Boundary(NamedTuple):
    """The end of a message."""


_Step = int | _Skip | _Boundary
_Steps = Generator[_Step, bytes]
"""Yields how many bytes it needs next, and is sent these."""


class _UnmeasuredError(Exception):
    """The length of a message is unknown."""


class PixelFormat(NamedTuple):
    """Lengths of a pixel."""

    size: int
    """Bytes."""
    compact: int
    """Bytes in Tight's own pixels."""

    @classmethod
    def of(cls, raw: bytes) -> "PixelFormat":
        """Return the lengths for a PIXEL_FORMAT of RFC 6143, 7.4."""
        bits, depth, _, true_colour, *most = struct.unpack(">4B3H", raw[:10])
        compact = bits == 32 and depth == 24 and true_colour and most == [255, 255, 255]
        return cls(bits // 8, 3 if compact else bits // 8)


class ServerParser:
    """Finds the ends of messages in the bytes of one server, in whatever pieces they arrive."""

    def __init__(self) -> None:
        self._version = b""
        self._format = PixelFormat(4, 4)
        self._formats: list[tuple[int, PixelFormat]] = []
        self._ends = 0
        self._rest = bytearray()
        self._skip = 0
        self._between = False
        self._steps: _Steps | None = self._session()
        self._needed = 0
        self._advance(None)

    @property
    def between_messages(self) -> bool:
        """True if the last byte was the end of a message."""
        return self._between

    def note(self, message: ClientMessage) -> None:
        """Note a message of the client that changes what its server sends."""
        match message.kind:
            case MessageKind.VERSION:
                self._version = message.raw
            case MessageKind.PIXEL_FORMAT:
                self._formats.append((self._ends, PixelFormat.of(message.raw[4:])))
            case MessageKind.CONTINUOUS_UPDATES if not message.raw[1]:
                self._ends += 1

    def feed(self, data: bytes) -> int | None:
        """Return the position behind the last message that ends in these bytes; None if none."""
        found, at = None, 0
        while at < len(data) and self._steps is not None:
            self._between = False
            if self._skip:
                taken = min(self._skip, len(data) - at)
                self._skip -= taken
                at += taken
                if self._skip:
                    break
                whole = b""
            else:
                taken = min(self._needed - len(self._rest), len(data) - at)
                self._rest += data[at : at + taken]
                at += taken
                if len(self._rest) < self._needed:
                    break
                whole = bytes(self._rest)
                self._rest.clear()
            self._advance(whole)
            if self._between:
                found = at
        return found

    def _advance(self, whole: bytes | None) -> None:
        """Give the steps the bytes that they needed, until they need more."""
        assert self._steps is not None  # noqa: S101 - the callers have checked it
        try:
            step = next(self._steps) if whole is None else self._steps.send(whole)
            while not isinstance(step, int):
                if isinstance(step, _Boundary):
                    self._between = True
                elif step.length:
                    self._skip = step.length
                    return
                step = self._steps.send(b"")
        except (StopIteration, _UnmeasuredError):
            self._steps, self._between = None, False
        else:
            self._needed = step

    def _session(self) -> _Steps:
        yield 12
        if not (yield from self._secured()):
            return
        init = yield 24
        self._format = PixelFormat.of(init[4:20])
        yield _Skip(int.from_bytes(init[20:]))
        while True:
            yield _Boundary()
            kind = (yield 1)[0]
            match kind:
                case 0:
                    yield from self._update()
                case 1:  # SetColourMapEntries
                    yield _Skip(6 * int.from_bytes((yield 5)[3:]))
                case 2:  # Bell
                    pass
                case 3:  # ServerCutText
                    yield _Skip(abs(int.from_bytes((yield 7)[3:], signed=True)))
                case 150:
                    self._end_continuous_updates()
                case 248:  # Fence
                    yield _Skip((yield 8)[7])
                case _:
                    return

    def _secured(self) -> Generator[_Step, bytes, bool]:
        """Read the security types and the result; return False if the server refuses."""
        first = (yield 1)[0]
        if self._version == RFB_3_3:
            return (yield 3)[2] == SECURITY_NONE
        yield _Skip(first)
        if not first:
            return False
        return self._version != RFB_3_8 or not any((yield 4))

    def _end_continuous_updates(self) -> None:
        if self._ends:
            self._ends -= 1
            self._formats = [(ends - 1, one) for ends, one in self._formats]
            self._change_format()

    def _change_format(self) -> None:
        while self._formats and self._formats[0][0] <= 0:
            self._format = self._formats.pop(0)[1]

    def _update(self) -> _Steps:
        self._change_format()
        count = int.from_bytes((yield 3)[1:])
        done = 0
        while count == _UNTIL_LAST or done < count:
            width, height, encoding = struct.unpack(">HHi", (yield 12)[4:])
            if encoding == _LAST:
                return
            if encoding not in _RECTANGLES:
                raise _UnmeasuredError
            yield from _RECTANGLES[encoding](width, height, self._format)
            done += 1


def _raw(width: int, height: int, pixel: PixelFormat) -> _Steps:
    yield _Skip(width * height * pixel.size)


def _rre(width: int, height: int, pixel: PixelFormat) -> _Steps:
    count = int.from_bytes((yield 4))
    yield _Skip(pixel.size + count * (pixel.size + 8))


def _hextile(width: int, height: int, pixel: PixelFormat) -> _Steps:
    for top in range(0, height, _TILE):
        for left in range(0, width, _TILE):
            mask = (yield 1)[0]
            if mask & 1:
                yield _Skip(min(_TILE, width - left) * min(_TILE, height - top) * pixel.size)
                continue
            # Background and foreground; then the number of subrectangles, each with a colour or
            # without.
            yield _Skip(pixel.size * ((mask & 2) // 2 + (mask & 4) // 4))
            if mask & 8:
                yield _Skip((yield 1)[0] * (2 + (pixel.size if mask & 16 else 0)))


def _tight(width: int, height: int, pixel: PixelFormat) -> _Steps:
    control = (yield 1)[0] >> 4
    if control == 8:  # one colour
        yield _Skip(pixel.compact)
        return
    if control == 9:  # JPEG
        yield _Skip((yield from _compact_length()))
        return
    if control > 7:
        raise _UnmeasuredError
    length = width * height * pixel.compact
    if control & 4 and (yield 1)[0] == 1:  # a filter, with a palette
        colours = (yield 1)[0] + 1
        yield _Skip(colours * pixel.compact)
        length = (width + 7) // 8 * height if colours == 2 else width * height
    yield _Skip(length if length < _TIGHT_UNCOMPRESSED else (yield from _compact_length()))


def _compact_length() -> Generator[_Step, bytes, int]:
    """Read a length of one to three bytes, of which each but the last has its high bit set."""
    first = (yield 1)[0]
    if first < 0x80:
        return first
    second = (yield 1)[0]
    length = first & 0x7F | (second & 0x7F) << 7
    return length if second < 0x80 else length | (yield 1)[0] << 14


def _counted(width: int, height: int, pixel: PixelFormat) -> _Steps:
    yield _Skip(int.from_bytes((yield 4)))


def _cursor(width: int, height: int, pixel: PixelFormat) -> _Steps:
    yield _Skip(width * height * pixel.size + (width + 7) // 8 * height)


def _x_cursor(width: int, height: int, pixel: PixelFormat) -> _Steps:
    yield _Skip(6 + 2 * ((width + 7) // 8) * height if width * height else 0)


def _alpha_cursor(width: int, height: int, pixel: PixelFormat) -> _Steps:
    # The encoding of its pixels, of which only Raw is sent.
    if any((yield 4)):
        raise _UnmeasuredError
    yield _Skip(4 * width * height)


def _vmware_cursor(width: int, height: int, pixel: PixelFormat) -> _Steps:
    kind = (yield 2)[0]
    yield _Skip(width * height * (4 if kind else 2 * pixel.size))


def _screens(width: int, height: int, pixel: PixelFormat) -> _Steps:
    yield _Skip(16 * (yield 4)[0])


def _bytes(count: int) -> Callable[[int, int, PixelFormat], _Steps]:
    def steps(width: int, height: int, pixel: PixelFormat) -> _Steps:
        yield _Skip(count)

    return steps


_RECTANGLES: Mapping[int, Callable[[int, int, PixelFormat], _Steps]] = {
    0: _raw,
    1: _bytes(4),  # CopyRect
    2: _rre,
    5: _hextile,
    7: _tight,
    16: _counted,  # ZRLE
    -223: _bytes(0),  # DesktopSize
    -239: _cursor,
    -240: _x_cursor,
    -258: _bytes(0),  # QEMU's key events are supported
    -261: _bytes(1),  # LED state
    -307: _counted,  # DesktopName
    -308: _screens,  # ExtendedDesktopSize
    -314: _alpha_cursor,
    0x574D5664: _vmware_cursor,
    0x574D5666: _bytes(0),  # VMware's cursor position
    0x574D5668: _bytes(4),  # VMware's LED state
}
"""Steps behind the head of a rectangle, by its encoding."""
