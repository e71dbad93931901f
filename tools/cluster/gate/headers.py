"""Headers that a gate forwards, and those that it replaces or leaves out. Pure.

All pass as they are, besides those of one connection (RFC 9110, section 7.6.1) and the two that the
gate's own client of the desktop writes: ``Host``, which must be a loopback name there, and
``Authorization``.
"""

from collections.abc import Iterable, Sequence

Fields = Iterable[tuple[bytes, bytes]]

HOP_BY_HOP = frozenset(
    {
        *(b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization"),
        *(b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade"),
    }
)
_NOT_TO_THE_DESKTOP = HOP_BY_HOP | {b"authorization", b"expect", b"host"}
_KEEPS = (b"keep-alive", b"close", b"upgrade")
"""Values of ``Connection`` that name no further header."""


def to_desktop(fields: Fields) -> dict[str, str]:
    """Return the headers of a request; names are in lower case, as uvicorn provides them."""
    passed: dict[str, str] = {}
    named: set[bytes] = set()
    for name, value in fields:
        if name == b"connection" and value.lower() not in _KEEPS:
            named |= {part.strip() for part in value.lower().split(b",")}
        # The gate's own handshake (RFC 6455, section 4.1) writes those of WebSockets.
        if name in _NOT_TO_THE_DESKTOP or name.startswith(b"sec-websocket-"):
            continue
        key, text = name.decode("latin-1"), value.decode("latin-1")
        # RFC 9110, section 5.3: fields of the same name may be joined with commas.
        passed[key] = f"{passed[key]}, {text}" if key in passed else text
    for name in named:
        passed.pop(name.decode("latin-1"), None)
    return passed


def to_plane(fields: Fields) -> Sequence[tuple[bytes, bytes]]:
    """Return the headers of a response, with their names in lower case."""
    return [one for one in fields if one[0] not in HOP_BY_HOP]


def content_length(fields: Fields) -> int | None:
    """Return the length of the content of a request; None if it is sent in chunks."""
    length = 0
    for name, value in fields:
        if name == b"transfer-encoding":
            return None
        if name == b"content-length":
            length = int(value)
    return length
