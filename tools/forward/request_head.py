"""Rewriting of the head of an HTTP request for a dialect. Pure.

Each connection carries one request: the head gets ``Connection: close``, so that what follows can
be passed on as bytes. A WebSocket's handshake keeps its ``Upgrade``. A page in a browser could use
the local port too, so a ``Host`` that is not loopback (DNS rebinding) and every ``Origin`` are
refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from deskhand.vncbridge.auth.policy import host_allowed

LONGEST_HEAD = 64 * 1024
"""Bytes."""
END = b"\r\n\r\n"

_REPLACED = frozenset(
    {
        *("authorization", "connection", "cookie", "host", "keep-alive"),
        *("proxy-authorization", "proxy-connection"),
    }
)
Headers = Sequence[tuple[str, str]]


class HeadRefused(Exception):
    """The request is not passed on."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(status, reason)
        self.status = status
        self.reason = reason

    def response(self) -> bytes:
        """Return the answer for the client."""
        body = f'{{"message": "{self.reason}"}}'.encode()
        head = (
            f"HTTP/1.1 {self.status} Refused\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        return head.encode() + body


@dataclass(frozen=True)
class DialectRoute:
    """Where the requests of one dialect go, and with what credential."""

    prefix: str
    """Path of the dialect at the service, as ``/api/v0/desktop/as/osworld``."""
    host: str
    """Value of the ``Host`` header for the service."""
    token: str
    names_base: bool = False
    """True if answers contain addresses, so that the service has to know the one of this port."""


def rewritten(head: bytes, route: DialectRoute) -> bytes:
    """Return the head for the service.

    Raises:
        HeadRefused: If it is malformed, or comes from a page.
    """
    method, target, headers = _parsed(head)
    hosts = [value for name, value in headers if name.lower() == "host"]
    if len(hosts) != 1 or not host_allowed(hosts[0], ()):
        raise HeadRefused(421, "The Host of this port is a loopback address.")
    if any(name.lower() == "origin" for name, _ in headers):
        raise HeadRefused(403, "Pages may not use this port: send no Origin.")
    upgrades = any(name.lower() == "upgrade" for name, _ in headers)
    lines = [
        f"{method} {_target(target, hosts[0], route)} HTTP/1.1",
        f"Host: {route.host}",
        f"Authorization: Bearer {route.token}",
        f"Connection: {'Upgrade' if upgrades else 'close'}",
        *(f"{name}: {value}" for name, value in headers if name.lower() not in _REPLACED),
    ]
    return "\r\n".join(lines).encode("latin-1") + END


def _parsed(head: bytes) -> tuple[str, str, Headers]:
    first, *rest = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or parts[2] not in ("HTTP/1.1", "HTTP/1.0") or parts[1][:1] != "/":
        raise HeadRefused(400, "This port takes HTTP/1.1 requests for a path.")
    headers = []
    for line in rest:
        name, colon, value = line.partition(":")
        # A name with blanks, or a line that continues the last one, is read differently by
        # different servers (RFC 9112, section 5.1).
        if not colon or not name or name != name.strip() or "\n" in line or "\r" in line:
            raise HeadRefused(400, "A header of the request is malformed.")
        headers.append((name, value.strip()))
    return parts[0], parts[1], headers


def _target(target: str, host: str, route: DialectRoute) -> str:
    if not route.names_base or not target.startswith("/json"):
        return route.prefix + target
    return f"{route.prefix}{target}{'&' if '?' in target else '?'}base={quote(host, safe='')}"
