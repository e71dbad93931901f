import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.vncbridge.errors import ProtocolBroken
from deskhand.vncbridge.rfb.messages import (
    EXTENDED_CLIPBOARD,
    LONGEST_CUT_TEXT,
    SHAPES,
    ClientMessage,
    ClientParser,
    Held,
    MessageKind,
)
from tests.vncbridge.rfb.client_messages import (
    CONTINUOUS,
    HELLO,
    PIXEL_FORMAT,
    POWER,
    REQUEST,
    cut_text,
    encodings,
    fence,
    key,
    pointer,
    qemu,
    resize,
)

SESSION = [
    (MessageKind.PIXEL_FORMAT, PIXEL_FORMAT),
    (MessageKind.ENCODINGS, encodings(7, -239, -312)),
    (MessageKind.ENCODINGS, encodings()),
    (MessageKind.UPDATE_REQUEST, REQUEST),
    (MessageKind.KEY, key(0x61)),
    (MessageKind.KEY, key(0x61, down=False)),
    (MessageKind.KEY, qemu(0x61, 30)),
    (MessageKind.POINTER, pointer(1)),
    (MessageKind.CUT_TEXT, cut_text(b"hello")),
    (MessageKind.CUT_TEXT, cut_text(b"")),
    (MessageKind.CUT_TEXT, cut_text(b"\0\0\0\1abc", extended=True)),
    (MessageKind.CONTINUOUS_UPDATES, CONTINUOUS),
    (MessageKind.FENCE, fence(b"")),
    (MessageKind.FENCE, fence(bytes(64))),
    (MessageKind.POWER, POWER),
    (MessageKind.RESIZE, resize(2)),
]


def parsed(*pieces: bytes) -> list[ClientMessage]:
    stream = ClientParser()
    return [message for piece in pieces for message in stream.feed(piece)]


def spoken(data: bytes) -> list[ClientMessage]:
    return parsed(HELLO, data)[3:]


def test_the_handshake_is_passed_on_and_made_shared() -> None:
    assert [(m.kind, m.raw) for m in parsed(HELLO)] == [
        (MessageKind.VERSION, b"RFB 003.008\n"),
        (MessageKind.SECURITY, b"\x01"),
        (MessageKind.INIT, b"\x01"),
    ]


def test_a_3_3_client_chooses_no_security() -> None:
    assert [m.kind for m in parsed(b"RFB 003.003\n\x01")] == [MessageKind.VERSION, MessageKind.INIT]


@pytest.mark.parametrize("number", [b"889", b"005", b"000", b"009"])
def test_versions_beside_the_published_ones_are_3_3(number: bytes) -> None:
    found = [(m.kind, m.raw) for m in parsed(b"RFB 003.%b\n\x00" % number)]
    assert found == [(MessageKind.VERSION, b"RFB 003.003\n"), (MessageKind.INIT, b"\x01")]


@pytest.mark.parametrize(
    "garbage", [b"GET / HTTP", b"RFB 004", b"RFB 003.\xb2", b"RFB 003.8\n", b"\0"]
)
def test_garbage_before_the_handshake_is_refused(garbage: bytes) -> None:
    with pytest.raises(ProtocolBroken, match=r"not RFB 3\.3"):
        parsed(garbage)


def test_a_security_type_that_was_not_offered_is_refused() -> None:
    with pytest.raises(ProtocolBroken, match="Security type 2"):
        parsed(b"RFB 003.008\n\x02")


@pytest.mark.parametrize(("kind", "raw"), SESSION)
def test_every_message_is_cut_out_whole(kind: MessageKind, raw: bytes) -> None:
    (message,) = spoken(raw)
    assert message.kind is kind
    assert message.raw == raw


def test_byte_at_a_time_gives_the_same_messages() -> None:
    whole = HELLO + b"".join(raw for _, raw in SESSION)
    assert parsed(*(whole[i : i + 1] for i in range(len(whole)))) == parsed(whole)
    assert len(parsed(whole)) == 3 + len(SESSION)


@given(st.lists(st.sampled_from(SESSION), max_size=20), st.lists(st.integers(1, 40)))
def test_the_cutting_of_the_stream_does_not_matter(
    session: list[tuple[MessageKind, bytes]], cuts: list[int]
) -> None:
    whole = HELLO + b"".join(raw for _, raw in session)
    pieces, rest = [], whole
    for cut in cuts:
        pieces.append(rest[:cut])
        rest = rest[cut:]
    found = parsed(*pieces, rest)
    assert [m.kind for m in found[3:]] == [kind for kind, _ in session]


@given(st.binary(max_size=300))
def test_whatever_comes_is_cut_or_refused_and_little_is_kept(data: bytes) -> None:
    stream = ClientParser()
    said = 0
    try:
        for message in [*stream.feed(HELLO), *stream.feed(data)]:
            said += len(message.raw)
    except ProtocolBroken:
        return
    assert said <= len(HELLO) + len(data)


@pytest.mark.parametrize("number", sorted(set(range(256)) - set(SHAPES)))
def test_an_unknown_type_is_refused_at_its_first_byte(number: int) -> None:
    with pytest.raises(ProtocolBroken, match=f"type {number} is unknown"):
        spoken(bytes([number]))


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (struct.pack(">BxH", 2, 1025), "1025 encodings"),
        (struct.pack(">Bxxxi", 6, LONGEST_CUT_TEXT + 1), "cut text"),
        (struct.pack(">Bxxxi", 6, -(2**31)), "cut text"),
        (struct.pack(">BxxxIB", 248, 0, 65), "fence"),
        (struct.pack(">BxHHBx", 251, 8, 6, 65), "65 screens"),
        (b"\xff\x01", "QEMU message 1"),
    ],
)
def test_what_would_be_too_much_is_refused_before_it_comes(raw: bytes, said: str) -> None:
    with pytest.raises(ProtocolBroken, match=said):
        spoken(raw)


def test_extensions_that_change_client_messages_are_never_enabled() -> None:
    (message,) = spoken(encodings(16, -316, -305, -259, EXTENDED_CLIPBOARD, 5))
    assert message.raw == encodings(16, 5)


def test_a_long_cut_text_is_counted_away() -> None:
    stream = ClientParser()
    list(stream.feed(HELLO))
    assert list(stream.feed(struct.pack(">Bxxxi", 6, 3 * 1024 * 1024))) == []
    for _ in range(2):
        assert list(stream.feed(bytes(1024 * 1024))) == []
        assert stream.mid_message
    (message, after) = list(stream.feed(bytes(1024 * 1024) + REQUEST))
    assert message.raw == b""
    assert (message.kind, after.kind) == (MessageKind.CUT_TEXT, MessageKind.UPDATE_REQUEST)


def test_it_says_whether_more_must_come() -> None:
    stream = ClientParser()
    assert stream.mid_message
    assert not stream.handshake_done
    list(stream.feed(HELLO))
    assert stream.handshake_done
    assert not stream.mid_message
    list(stream.feed(REQUEST[:4]))
    assert stream.mid_message
    list(stream.feed(REQUEST[4:]))
    assert not stream.mid_message


def test_what_is_held_is_let_go_of_once() -> None:
    held = Held()
    for message in spoken(key(0x61) + key(0x62) + key(0x62, down=False) + pointer(5, 7, 8)):
        held.note(message)
    for message in spoken(qemu(0xFFE1, 42)):
        held.note(message)
    released = spoken(held.release())
    assert {m.raw for m in released} == {
        key(0x61, down=False),
        qemu(0xFFE1, 42, down=False),
        pointer(0, 7, 8),
    }
    assert held.release() == b""


def test_a_button_let_go_of_by_its_client_is_not_held() -> None:
    held = Held()
    for message in spoken(pointer(1) + pointer(0) + REQUEST):
        held.note(message)
    assert held.release() == b""


def test_more_held_keys_than_a_keyboard_has_end_the_stream() -> None:
    held = Held()
    *most, last = spoken(b"".join(key(keysym) for keysym in range(257)))
    for message in most:
        held.note(message)
    with pytest.raises(ProtocolBroken, match="More than 256 keys"):
        held.note(last)


def test_a_key_is_part_of_a_shortcut_while_its_modifier_is_down() -> None:
    held = Held()
    for message, command in ((key(0x61), False), (key(0xFFE3), True), (key(0xFFE3, False), False)):
        held.note(spoken(message)[0])
        assert held.command == command
