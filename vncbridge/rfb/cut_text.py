"""Cut texts: the clipboard in messages of RFB, as text, without I/O.

A plain cut text is in Latin-1 (RFC 6143, 7.5.6). Extended Clipboard, a pseudo-encoding that a
client offers, uses the same message with a negative length: flags with one action, and with the
formats that it concerns, of which only text is supported here. One side notifies the other that it
has a text; the other requests it, and gets it compressed, in UTF-8. Source: rfbproto, "Extended
Clipboard Pseudo-Encoding".
"""

import struct
import zlib
from dataclasses import dataclass
from enum import IntFlag

from deskhand.vncbridge.errors import ProtocolBroken

LONGEST = 1024 * 1024
"""Length of the longest text that is passed on."""
_TEXT = 1
_HEAD = struct.Struct(">B3xi")


class ClipboardAction(IntFlag):
    """The actions of Extended Clipboard."""

    CAPS = 1 << 24
    REQUEST = 1 << 25
    PEEK = 1 << 26
    NOTIFY = 1 << 27
    PROVIDE = 1 << 28


_NONE = ClipboardAction(0)
_ALL = (
    ClipboardAction.CAPS
    | ClipboardAction.REQUEST
    | ClipboardAction.PEEK
    | ClipboardAction.NOTIFY
    | ClipboardAction.PROVIDE
)
DEFAULT = ClipboardAction.REQUEST | ClipboardAction.NOTIFY | ClipboardAction.PROVIDE
"""Actions of a client that has sent no capabilities."""


@dataclass(frozen=True)
class CutText:
    """A cut text of a client."""

    actions: ClipboardAction = _NONE
    """The action, or what a client is capable of with ``CAPS``; 0 for a plain cut text."""
    has_text: bool = True
    """True if the action concerns text."""
    text: str | None = None
    """The text, if there is one in the message."""


def parsed(raw: bytes) -> CutText:
    """Parse a ClientCutText.

    Raises:
        ProtocolBroken: If an extended one is malformed.
    """
    content = raw[_HEAD.size :]
    if int.from_bytes(raw[4:8], signed=True) >= 0:
        return CutText(text=_lines(content.decode("latin-1")))
    if len(content) < 4:
        raise ProtocolBroken("An extended cut text has no flags.")
    flags = int.from_bytes(content[:4])
    actions, has_text = ClipboardAction(flags & _ALL), bool(flags & _TEXT)
    if ClipboardAction.CAPS in actions or ClipboardAction.PROVIDE not in actions or not has_text:
        return CutText(actions, has_text)
    return CutText(actions, has_text, _unpacked(content[4:]))


def _unpacked(compressed: bytes) -> str | None:
    """Return the text, the first of the formats; None if it is too long."""
    try:
        # One byte beyond the limit shows that the text is longer.
        content = zlib.decompressobj().decompress(compressed, 4 + LONGEST + 1)
    except zlib.error as error:
        raise ProtocolBroken("An extended cut text is not compressed as it should be.") from error
    length = int.from_bytes(content[:4])
    if length > LONGEST:
        return None
    if len(content) < 4 + length:
        raise ProtocolBroken("An extended cut text is shorter than it says.")
    return _lines(content[4 : 4 + length].decode("utf-8", "replace").rstrip("\0"))


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")


def plain(text: str) -> bytes:
    """Return a ServerCutText; characters outside of Latin-1 become question marks."""
    data = text.encode("latin-1", "replace")
    return _HEAD.pack(3, len(data)) + data


def capabilities() -> bytes:
    """Return the message that tells a client of Extended Clipboard what is supported."""
    # A text is never sent without a request, which the size 0 asks of the client too.
    return _extended(_ALL | _TEXT, bytes(4))


def notice() -> bytes:
    """Return the message that there is a text."""
    return _extended(ClipboardAction.NOTIFY | _TEXT)


def request() -> bytes:
    """Return the message that requests the client's text."""
    return _extended(ClipboardAction.REQUEST | _TEXT)


def provided(text: str) -> bytes:
    """Return the message with a text that was requested."""
    data = text.replace("\n", "\r\n").encode() + b"\0"
    packed = zlib.compress(len(data).to_bytes(4) + data)
    return _extended(ClipboardAction.PROVIDE | _TEXT, packed)


def _extended(flags: int, content: bytes = b"") -> bytes:
    return _HEAD.pack(3, -4 - len(content)) + flags.to_bytes(4) + content
