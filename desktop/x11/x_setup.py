"""Request of a client's connection setup (X Window System Protocol, section 8). Pure.

Byte order, protocol version, name and data of the authorization; both are padded to four bytes.
"""

import struct

COOKIE_NAME = b"MIT-MAGIC-COOKIE-1"
HEAD_BYTES = 12
_ORDERS = {b"l": "<", b"B": ">"}


def setup_bytes(head: bytes) -> int:
    """Return the length of the whole request, of which ``head`` is the fixed part.

    Raises:
        ValueError: If no client begins like that.
    """
    _, _, name, data = _fields(head)
    return HEAD_BYTES + _padded(name) + _padded(data)


def with_cookie(head: bytes, cookie: bytes) -> bytes:
    """Return the whole request with that cookie as its authorization.

    Raises:
        ValueError: If no client begins like that.
    """
    major, minor, _, _ = _fields(head)
    order = head[:1]
    fixed = struct.pack(f"{_ORDERS[order]}2xHHHHxx", major, minor, len(COOKIE_NAME), len(cookie))
    return order + fixed[1:] + _pad(COOKIE_NAME) + _pad(cookie)


def presented(head: bytes, rest: bytes) -> bytes:
    """Return the data of the authorization; ``rest`` is what follows the fixed part.

    Raises:
        ValueError: If no client begins like that.
    """
    _, _, name, data = _fields(head)
    return rest[_padded(name) : _padded(name) + data]


def _fields(head: bytes) -> tuple[int, int, int, int]:
    order = _ORDERS.get(head[:1])
    if order is None or len(head) != HEAD_BYTES:
        raise ValueError(f"no X client begins with {head[:HEAD_BYTES]!r}")
    major, minor, name, data = struct.unpack(f"{order}2xHHHHxx", head)
    return major, minor, name, data


def _padded(length: int) -> int:
    return length + -length % 4


def _pad(text: bytes) -> bytes:
    return text + bytes(-len(text) % 4)
