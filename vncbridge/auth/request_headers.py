"""The headers on which access control decides, read in one pass. Pure."""

from collections.abc import Iterable
from typing import NamedTuple

from deskhand.vncbridge.http import caller_headers

PAGE_KEY = "Deskhand-Page-Key"
"""Header with the second half of a browser's session, see `page_keys`."""
_HOST, _PAGE_KEY = b"host", PAGE_KEY.lower().encode()
_CHAT = tuple(f"{prefix}{caller_headers.CHAT}".encode() for prefix in caller_headers.PREFIXES)
"""Names of the header of the chat, the one that counts first."""
_NAMES = frozenset(
    {
        *(_HOST, b"origin", b"sec-fetch-site", b"content-type", b"content-length"),
        *(b"transfer-encoding", b"authorization", b"cookie", *_CHAT),
        _PAGE_KEY,
    }
)


class RequestHeaders(NamedTuple):
    """Values of headers, each the first of its name; None for one that the request lacks."""

    host: str | None
    """None also if there are several: one might be checked and the application use another."""
    origin: str | None
    sec_fetch_site: str | None
    content_type: str | None
    content_length: str
    """``0`` for a request that declares none."""
    chunked: bool
    authorization: str | None
    cookie: str | None
    page_key: str | None
    chat: str | None
    """The chat in whose name the caller speaks."""

    @property
    def has_body(self) -> bool:
        """True for a request with a body, RFC 9112 section 6."""
        return self.chunked or self.content_length not in ("", "0")


def read_headers(pairs: Iterable[tuple[bytes, bytes]]) -> RequestHeaders:
    """Return the values from the headers of an ASGI scope, whose names are in lower case."""
    found: dict[bytes, str] = {}
    hosts = 0
    for name, value in pairs:
        if name in _NAMES:
            hosts += name == _HOST
            if name not in found:
                found[name] = value.decode("latin-1")
    get = found.get
    return RequestHeaders(
        host=get(_HOST) if hosts == 1 else None,
        origin=get(b"origin"),
        sec_fetch_site=get(b"sec-fetch-site"),
        content_type=get(b"content-type"),
        content_length=get(b"content-length", "0"),
        chunked=b"transfer-encoding" in found,
        authorization=get(b"authorization"),
        cookie=get(b"cookie"),
        page_key=get(_PAGE_KEY),
        chat=get(_CHAT[0], get(_CHAT[1])),
    )
