import struct

import pytest

from deskhand.vncbridge.rfb.messages import ClientParser
from deskhand.vncbridge.rfb.server_messages import ServerParser
from tests.vncbridge.rfb.client_messages import CONTINUOUS, HELLO

VERSION = b"RFB 003.008\n"
RGB_888 = struct.pack(">BBBBHHHBBBxxx", 32, 24, 0, 1, 255, 255, 255, 16, 8, 0)
RGB_565 = struct.pack(">BBBBHHHBBBxxx", 16, 16, 0, 1, 31, 63, 31, 11, 5, 0)
INIT = struct.pack(">HH", 800, 600) + RGB_888 + struct.pack(">I", 4) + b"desk"
GREETING = VERSION + b"\x01\x01" + bytes(4) + INIT
DISABLE = CONTINUOUS[:1] + b"\0" + CONTINUOUS[2:]
END_OF_CONTINUOUS_UPDATES = b"\x96"
BELL = b"\x02"


def rectangle(width: int, height: int, encoding: int, content: bytes = b"") -> bytes:
    return struct.pack(">HHHHi", 0, 0, width, height, encoding) + content


def update(*rectangles: bytes, count: int | None = None) -> bytes:
    return struct.pack(">BxH", 0, len(rectangles) if count is None else count) + b"".join(
        rectangles
    )


def said(parser: ServerParser, data: bytes) -> None:
    for message in ClientParser().feed(HELLO + data):
        parser.note(message)


def started(hello: bytes = HELLO, greeting: bytes = GREETING) -> ServerParser:
    parser = ServerParser()
    for message in ClientParser().feed(hello):
        parser.note(message)
    assert parser.feed(greeting) == len(greeting)
    return parser


TIGHT = 7
MESSAGES = [
    BELL,
    END_OF_CONTINUOUS_UPDATES,
    b"\x01\0" + struct.pack(">HH", 3, 2) + bytes(12),
    b"\x03\0\0\0" + struct.pack(">i", 5) + b"hello",
    b"\x03\0\0\0" + struct.pack(">i", -4) + bytes(4),
    b"\xf8\0\0\0\x80\0\0\0\x02ab",
    update(),
    update(rectangle(3, 2, 0, bytes(24)), rectangle(3, 2, 1, bytes(4))),
    update(rectangle(9, 9, 2, struct.pack(">I", 2) + bytes(4 + 2 * 12))),
    update(rectangle(9, 9, 16, struct.pack(">I", 5) + bytes(5))),
    update(rectangle(0, 0, -224), count=0xFFFF),
    # Tiles of Hextile: raw, and with background, foreground and subrectangles, with a colour each
    # and without.
    update(
        rectangle(17, 17, 5, b"\x01" + bytes(4 * 256) + b"\x00" + b"\x1e" + bytes(8) + b"\x02")
        + bytes(12)
        + b"\x0a"
        + bytes(4)
        + b"\x03"
        + bytes(6),
        count=1,
    ),
    # Tight: one colour, JPEG, compressed of each form, and too small to be compressed.
    update(rectangle(9, 9, TIGHT, b"\x80" + bytes(3))),
    update(rectangle(9, 9, TIGHT, b"\x90\x05" + bytes(5))),
    update(rectangle(9, 9, TIGHT, b"\x00\x81\x01" + bytes(129))),
    update(rectangle(9, 9, TIGHT, b"\x00\x81\x80\x01" + bytes(1 + (1 << 14)))),
    update(rectangle(1, 3, TIGHT, b"\x00" + bytes(9))),
    update(rectangle(9, 9, TIGHT, b"\x40\x02\x03" + bytes(3))),
    update(rectangle(9, 1, TIGHT, b"\x50\x01\x01" + bytes(6) + bytes(2))),
    update(rectangle(9, 1, TIGHT, b"\x60\x01\x02" + bytes(9) + bytes(9))),
    # Cursors.
    update(rectangle(9, 2, -239, bytes(72 + 4)), rectangle(9, 2, -240, bytes(6 + 8))),
    update(rectangle(0, 0, -240)),
    update(rectangle(9, 2, -314, bytes(4 + 72))),
    update(rectangle(9, 2, 0x574D5664, b"\x00\0" + bytes(144))),
    update(rectangle(9, 2, 0x574D5664, b"\x01\0" + bytes(72))),
    # Sizes, names and states.
    update(rectangle(9, 2, -223), rectangle(9, 2, -258), rectangle(9, 2, -261, b"\1")),
    update(rectangle(9, 2, -308, b"\x02\0\0\0" + bytes(32))),
    update(rectangle(9, 2, -307, struct.pack(">I", 3) + b"abc")),
    update(rectangle(9, 2, 0x574D5666), rectangle(0, 0, 0x574D5668, bytes(4))),
]


@pytest.mark.parametrize("message", MESSAGES)
def test_the_end_of_each_message_is_found_in_whatever_pieces_it_comes(message: bytes) -> None:
    whole = started()
    assert whole.feed(message + BELL + b"\x03") == len(message) + 1
    assert not whole.between_messages
    parser = started()
    for at in range(len(message)):
        last = at == len(message) - 1
        assert parser.feed(message[at : at + 1]) == (1 if last else None)
        assert parser.between_messages == last


@pytest.mark.parametrize(
    ("hello", "security"),
    [
        (b"RFB 003.003\n\x01", bytes(3) + b"\x01"),
        (b"RFB 003.889\n\x01", bytes(3) + b"\x01"),
        (b"RFB 003.007\n\x01\x01", b"\x02\x01\x05"),
        (b"RFB 003.008\n\x01\x01", b"\x01\x01" + bytes(4)),
    ],
)
def test_the_handshake_of_each_version_is_followed(hello: bytes, security: bytes) -> None:
    assert started(hello, VERSION + security + INIT).feed(BELL) == 1


@pytest.mark.parametrize(
    ("hello", "security"),
    [
        (b"RFB 003.003\n\x01", bytes(4)),
        (b"RFB 003.008\n\x01\x01", b"\0"),
        (b"RFB 003.008\n\x01\x01", b"\x01\x01\0\0\0\x01"),
    ],
)
def test_after_a_refusal_nothing_is_inserted(hello: bytes, security: bytes) -> None:
    parser = ServerParser()
    for message in ClientParser().feed(hello):
        parser.note(message)
    assert parser.feed(VERSION + security + INIT + BELL) is None
    assert parser.feed(BELL) is None
    assert not parser.between_messages


@pytest.mark.parametrize(
    "unknown",
    [
        b"\x63",
        update(rectangle(1, 1, 50)),
        update(rectangle(1, 1, TIGHT, b"\xa0")),
        update(rectangle(1, 1, -314, b"\0\0\0\x07")),
    ],
)
def test_after_what_cannot_be_measured_nothing_is_inserted(unknown: bytes) -> None:
    parser = started()
    assert parser.feed(BELL + unknown + BELL) == 1
    assert parser.feed(BELL) is None
    assert not parser.between_messages


def raw_pixel(size: int) -> bytes:
    return update(rectangle(1, 1, 0, bytes(size)))


def change_to(form: bytes) -> bytes:
    return bytes(4) + form


def test_a_new_pixel_format_begins_with_the_next_update() -> None:
    parser = started()
    half = raw_pixel(4)
    assert parser.feed(half[:10]) is None
    said(parser, change_to(RGB_565))
    assert parser.feed(half[10:]) == len(half) - 10
    assert parser.feed(raw_pixel(2)) == len(raw_pixel(2))


def test_after_continuous_updates_it_begins_with_their_end() -> None:
    parser = started()
    # The end that announces that the server supports them.
    assert parser.feed(END_OF_CONTINUOUS_UPDATES) == 1
    said(parser, CONTINUOUS + DISABLE + change_to(RGB_565) + CONTINUOUS)
    assert parser.feed(raw_pixel(4)) == len(raw_pixel(4))
    assert parser.feed(END_OF_CONTINUOUS_UPDATES + raw_pixel(2)) == 1 + len(raw_pixel(2))
