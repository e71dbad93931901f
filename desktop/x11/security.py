"""Messages of the X11 SECURITY extension, version 7.1, which makes cookies for untrusted clients.

An untrusted client reads neither the root window nor the windows of trusted clients, gets none of
their keys, and cannot use XTEST. Untrusted clients are not protected from each other: one reads the
windows of another and selects its keys. They have no extensions except BIG-REQUESTS and XC-MISC.
Without XKEYBOARD, Chromium gives a page wrong names of keys once a person has typed, so the
desktop's browser is a trusted client.

Source: the "Security Extension Specification" of X.Org. All integers are little-endian, as the
connection's first byte demands. Pure.
"""

import struct

_COOKIE_NAME = b"MIT-MAGIC-COOKIE-1"
REPLY_BYTES = 32
"""Length of every error and event, and of the fixed part of every reply."""

_NAME = b"SECURITY"
_QUERY_EXTENSION = 98
_GENERATE_AUTHORIZATION = 1
_TIMEOUT, _TRUST_LEVEL = 1, 2
"""Bits of the value mask."""
_NEVER, _UNTRUSTED = 0, 1
_REPLY = 1


def extension_query() -> bytes:
    """Return the request for the extension's opcode."""
    return struct.pack("<BxHHxx", _QUERY_EXTENSION, 4, len(_NAME)) + _NAME


def opcode_in(reply: bytes) -> int | None:
    """Return the extension's opcode; None if the server does not have the extension."""
    kind, present, opcode = struct.unpack_from("<B7xBB", reply)
    return opcode if kind == _REPLY and present else None


def untrusted_cookie_request(opcode: int) -> bytes:
    """Return the request for a cookie of untrusted clients that never expires."""
    # Without a timeout of 0 the server forgets the cookie 60 s after its last client has left.
    name = _COOKIE_NAME + bytes(-len(_COOKIE_NAME) % 4)
    values = struct.pack("<II", _NEVER, _UNTRUSTED)
    length = (12 + len(name) + len(values)) // 4
    head = struct.pack(
        "<BBHHHI",
        *(opcode, _GENERATE_AUTHORIZATION, length),
        *(len(_COOKIE_NAME), 0, _TIMEOUT | _TRUST_LEVEL),
    )
    return head + name + values


def more_bytes(reply: bytes) -> int:
    """Return the number of bytes that follow the fixed part of a reply."""
    kind, units = struct.unpack_from("<B3xI", reply)
    return 4 * int(units) if kind == _REPLY else 0


def cookie_in(reply: bytes) -> bytes | None:
    """Return the cookie in a whole reply; None if the server refused."""
    kind, length = struct.unpack_from("<B11xH", reply)
    return reply[REPLY_BYTES : REPLY_BYTES + length] if kind == _REPLY else None
