"""The address by which browsers of other machines open the pages. Pure."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from .errors import InvalidRemoteAccess

NAME = "public_url"
OWN_PATHS = frozenset(
    {
        *("api", "assets", "compare", "desktops", "docs", "healthz", "login", "logout", "mcp"),
        *("openapi.json", "people", "readyz", "runs", "system", "viewer"),
    }
)
"""First segments of our own paths, with which no base path may begin."""
_BASE = re.compile(r"(/[A-Za-z0-9._~-]+)*/?")
_HOST = re.compile(r"[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class PublicUrl:
    """Scheme, host and base path of the address by which people open the pages."""

    scheme: str
    host: str
    """With the port, if it is not that of the scheme, as in a ``Host`` header."""
    base: str
    """The path below which a proxy serves all pages, as ``/desk``; empty: the host's root."""

    @property
    def secure(self) -> bool:
        """True if browsers use TLS."""
        return self.scheme == "https"

    @property
    def text(self) -> str:
        """The address without a slash at its end."""
        return f"{self.scheme}://{self.host}{self.base}"

    def path_below(self, path: str) -> str | None:
        """Return a path without the base path, or ``None`` if it does not begin with it.

        A proxy may have removed the base path or not.
        """
        if not self.base or not (path + "/").startswith(self.base + "/"):
            return None
        return path[len(self.base) :]


def parse_public_url(text: str) -> PublicUrl:
    """Read ``https://HOST[:PORT][/BASE]``.

    Raises:
        InvalidRemoteAccess: If it is none, or its base path is one of our own.
    """
    problem = InvalidRemoteAccess(
        NAME, f"{text!r} is no address such as https://desk.example.com or https://example.com/desk"
    )
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise problem from None
    name = parts.netloc.rpartition(":")[0] if port is not None else parts.netloc
    if parts.scheme not in _PORTS or not _HOST.fullmatch(name) or parts.query or parts.fragment:
        raise problem
    base = parts.path.rstrip("/")
    if not _BASE.fullmatch(parts.path) or any(one in (".", "..") for one in base.split("/")):
        raise problem
    if base.split("/")[:2][-1] in OWN_PATHS:
        raise InvalidRemoteAccess(NAME, f"the base path {base} is a path of Deskhand; use another")
    host = name.lower() if port in (None, _PORTS[parts.scheme]) else f"{name.lower()}:{port}"
    return PublicUrl(parts.scheme, host, base)
