import struct
import zlib

import pytest

from deskhand.vncbridge.errors import ProtocolBroken
from deskhand.vncbridge.rfb import cut_text as messages
from deskhand.vncbridge.rfb.cut_text import LONGEST, ClipboardAction, CutText
from tests.vncbridge.rfb.client_messages import cut_text

TEXT = 1


def extended(flags: int, content: bytes = b"") -> bytes:
    return cut_text(flags.to_bytes(4) + content, extended=True)


def packed(text: bytes, length: int | None = None) -> bytes:
    return zlib.compress(struct.pack(">I", len(text) if length is None else length) + text)


def test_a_plain_text_is_latin_1_with_line_feeds() -> None:
    assert messages.parsed(cut_text(b"gr\xfc\xdfe\r\n")) == CutText(text="grüße\n")
    assert messages.parsed(cut_text(b"")) == CutText(text="")
    assert messages.plain("grüße, 世") == b"\x03\0\0\0\0\0\0\x08gr\xfc\xdfe, ?"


@pytest.mark.parametrize(
    ("flags", "content", "found"),
    [
        (
            ClipboardAction.CAPS | ClipboardAction.NOTIFY | TEXT,
            bytes(4),
            CutText(ClipboardAction.CAPS | ClipboardAction.NOTIFY),
        ),
        (ClipboardAction.NOTIFY | TEXT, b"", CutText(ClipboardAction.NOTIFY)),
        (ClipboardAction.NOTIFY, b"", CutText(ClipboardAction.NOTIFY, has_text=False)),
        (ClipboardAction.REQUEST | TEXT, b"", CutText(ClipboardAction.REQUEST)),
        (ClipboardAction.PEEK, b"", CutText(ClipboardAction.PEEK, has_text=False)),
        # A picture alone.
        (ClipboardAction.PROVIDE | 8, b"?", CutText(ClipboardAction.PROVIDE, has_text=False)),
        (
            ClipboardAction.PROVIDE | TEXT,
            packed("é\r\n世\0".encode()),
            CutText(ClipboardAction.PROVIDE, True, "é\n世"),
        ),
        (
            ClipboardAction.PROVIDE | TEXT,
            packed(b"\xff"),
            CutText(ClipboardAction.PROVIDE, True, "\ufffd"),
        ),
        (
            ClipboardAction.PROVIDE | TEXT,
            packed(bytes(LONGEST + 1)),
            CutText(ClipboardAction.PROVIDE),
        ),
    ],
)
def test_each_extended_message_is_understood(flags: int, content: bytes, found: CutText) -> None:
    assert messages.parsed(extended(flags, content)) == found


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (cut_text(b"abc", extended=True), "no flags"),
        (extended(ClipboardAction.PROVIDE | TEXT, b"no zlib"), "not compressed"),
        (extended(ClipboardAction.PROVIDE | TEXT, packed(b"abc", length=4)), "shorter"),
        (extended(ClipboardAction.PROVIDE | TEXT, b""), "shorter"),
    ],
)
def test_a_malformed_one_is_refused(raw: bytes, reason: str) -> None:
    with pytest.raises(ProtocolBroken, match=reason):
        messages.parsed(raw)


def test_a_client_reads_what_is_sent() -> None:
    def read(message: bytes) -> CutText:
        assert message[0] == 3
        return messages.parsed(b"\x06" + message[1:])

    assert read(messages.capabilities()) == CutText(ClipboardAction(sum(ClipboardAction)))
    assert read(messages.notice()) == CutText(ClipboardAction.NOTIFY)
    assert read(messages.request()) == CutText(ClipboardAction.REQUEST)
    assert read(messages.provided("é\n世")) == CutText(ClipboardAction.PROVIDE, True, "é\n世")
    packed_lines = messages.provided("é\n世")[12:]
    assert zlib.decompress(packed_lines)[4:] == "é\r\n世\0".encode()
