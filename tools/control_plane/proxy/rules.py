"""Rules of the proxy: the paths, parameters and headers that it forwards. Pure.

- Paths are checked in the form in which they arrived, before any percent-decoding. A path that was
  never decoded cannot be decoded twice, so that ``%2e%2e`` and ``%252e`` are refused alike. Only
  segments of RFC 3986 unreserved characters below a list of known prefixes pass.
- To the desktop: no credential of the client, neither as a header nor as a parameter, no hop-by-hop
  header (RFC 9110, section 7.6.1), and none of the headers that the control plane sets itself
  (``Deskhand-*``), which a client could forge.
- To the client: no header that affects the origin of our pages (cookies, CORS, CSP, redirects,
  service workers ...). Whatever runs on a desktop may have taken over its service.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from deskhand.tools.control_plane.errors import PathNotServed, PathRefused
from deskhand.vncbridge.http import caller_headers

MOUNT = b"/api/v0/desktops/"
# First segments below ``/api/v0/`` that are forwarded. A list of what is permitted, so that a new
# route of the desktop service is not reachable by accident.
PREFIXES = (
    "context-config",
    "append-file",
    "desktop",
    "edit-files",
    "file-status",
    "git",
    "list-directory",
    "make-directory",
    "mcp",
    "processes",
    "read-file",
    "read-file-lines",
    "remove-path",
    "resolve-path",
    "search",
    "watch",
    "write-file",
)

# Unreserved characters of RFC 3986, section 2.3. Paths of a desktop service need no others, and
# without "%" there is no encoded slash, backslash or dot.
_SEGMENT = re.compile(r"[A-Za-z0-9._~-]+")

_OF_ONE_CONNECTION = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_NOT_TO_THE_DESKTOP = _OF_ONE_CONNECTION | {
    "authorization",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "origin",
    "referer",
    "via",
    "x-real-ip",
}
_NOT_TO_THE_DESKTOP_PREFIXES = (*caller_headers.PREFIXES, "sec-", "x-forwarded-")
# Headers by which a server controls the browser's treatment of its whole origin.
_NOT_TO_THE_CLIENT = _OF_ONE_CONNECTION | {
    "alt-svc",
    "clear-site-data",
    "content-disposition",
    "content-location",
    "content-security-policy",
    "cross-origin-resource-policy",
    "date",
    "link",
    "location",
    "nel",
    "refresh",
    "report-to",
    "reporting-endpoints",
    "server",
    "service-worker-allowed",
    "set-cookie",
    "set-cookie2",
    "sourcemap",
    "strict-transport-security",
    "www-authenticate",
    "x-content-type-options",
}
_NOT_TO_THE_CLIENT_PREFIXES = ("access-control-",)
_SECRET_PARAMETERS = frozenset({"access_token", "ticket", "token"})


@dataclass(frozen=True)
class ProxyRules:
    """Target of a request that the rules permit."""

    desktop_id: str
    path: str
    """Path on the desktop service, such as ``/api/v0/desktop/action``."""


def rules_for(raw_path: bytes) -> ProxyRules:
    """Parse the undecoded path of a request below :data:`MOUNT`.

    Raises:
        PathRefused: If two programs could read the path in different ways.
        PathNotServed: If its first part is not in :data:`PREFIXES`.
    """
    _, mount, tail = raw_path.partition(MOUNT)
    # The router matched the decoded path. Without the mount in the raw one, a part of it is
    # encoded.
    if not mount:
        raise PathRefused("has an encoded character")
    desktop_id, *rest = tail.decode("latin-1").split("/")
    for segment in (desktop_id, *rest):
        _check(segment)
    if not rest:
        raise PathNotServed("", PREFIXES)
    if rest[0] not in PREFIXES:
        raise PathNotServed(rest[0], PREFIXES)
    return ProxyRules(desktop_id, "/api/v0/" + "/".join(rest))


def query(raw_query: bytes) -> str:
    """Return the query string without the parameters that may carry a credential."""
    parameters = raw_query.decode("latin-1").split("&")
    return "&".join(p for p in parameters if _parameter_name(p) not in _SECRET_PARAMETERS)


def to_desktop(
    headers: Iterable[tuple[bytes, bytes]],
    *,
    name: str,
    role: str = "admin",
    base: str = "",
    person: str = "",
) -> dict[str, str]:
    """Return the headers for the desktop service.

    ``name`` is that of the caller's credential, for logs and recordings, ``role`` its role there,
    ``base`` the address under which the caller knows the desktop, ``person`` the name of the person
    who has signed in.
    """
    pairs = _without(headers, _NOT_TO_THE_DESKTOP, _NOT_TO_THE_DESKTOP_PREFIXES)
    passed: dict[str, str] = {}
    for key, value in pairs:
        # RFC 9110, section 5.3: fields of the same name may be joined with commas.
        passed[key] = f"{passed[key]}, {value}" if key in passed else value
    # Without the header the HTTP client would add its own, and the response could have an encoding
    # that the caller does not accept.
    passed.setdefault("accept-encoding", "identity")
    passed[caller_headers.ROLE] = role
    if base:
        passed[caller_headers.BASE] = base
    if person:
        passed[caller_headers.PERSON] = quote(person, safe="")
    passed[caller_headers.CALLER] = "".join(c for c in name if " " <= c <= "~")
    return passed


def to_client(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    """Return the headers of the desktop service that the client may receive."""
    return _without(headers, _NOT_TO_THE_CLIENT, _NOT_TO_THE_CLIENT_PREFIXES)


def has_body(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether a request with these headers has a body (RFC 9112, section 6.3)."""
    return any(
        key.lower() == b"transfer-encoding" or (key.lower() == b"content-length" and value != b"0")
        for key, value in headers
    )


def _check(segment: str) -> None:
    if not segment:
        raise PathRefused("has an empty part (//)")
    if "%" in segment:
        raise PathRefused("has an encoded character")
    if segment in {".", ".."}:
        raise PathRefused("has a dot part (. or ..)")
    if not _SEGMENT.fullmatch(segment):
        raise PathRefused("has a character other than letters, digits, -, ., _ and ~")


def _parameter_name(parameter: str) -> str:
    return parameter.partition("=")[0].lower()


def _without(
    headers: Iterable[tuple[bytes, bytes]], names: frozenset[str], prefixes: tuple[str, ...]
) -> list[tuple[str, str]]:
    pairs = [(k.decode("latin-1").lower(), v.decode("latin-1")) for k, v in headers]
    # RFC 9110, section 7.6.1: ``Connection`` names further hop-by-hop headers.
    named = {
        part.strip().lower()
        for key, value in pairs
        if key == "connection"
        for part in value.split(",")
    }
    return [
        (key, value)
        for key, value in pairs
        if key not in names and key not in named and not key.startswith(prefixes)
    ]
