"""Who may pass: hosts, origins, credentials, content types. Decisions only.

Rules: RFC 6454 (origins), RFC 9110 section 7.4 (a request for another host: 421), the Fetch
standard's ``Sec-Fetch-Site``.
"""

import hashlib
import ipaddress
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from .scopes import Need, allows, chats_of, need

BODY_TYPES = ("application/json", "application/octet-stream")
SAFE_METHODS = ("GET", "HEAD")
OPEN_PATHS = frozenset({"/healthz", "/readyz", "/login", "/api/v0/login"})
OPEN_PREFIXES = ("/assets/", "/viewer/")
LARGEST_JSON = 4 * 1024 * 1024
LARGEST_UPLOAD = 1024 * 1024 * 1024


Proof = Literal["bearer", "cookie", "ticket", "none"]


@dataclass(frozen=True)
class Principal:
    """Somebody who showed a valid credential."""

    name: str
    scopes: tuple[str, ...] = ("admin",)
    via: tuple[str, ...] = field(default=(), compare=False)
    """Names of what it stands on: a token, a session. With any of them it ends."""
    ends: float | None = field(default=None, compare=False)
    """Unix time, in seconds."""


@dataclass(frozen=True)
class Denial:
    """Why a request does not pass."""

    status: int
    message: str
    detail: str = ""
    wrong_credential: bool = False
    """Whether the answer is to be delayed, so that guessing is slow."""


@dataclass(frozen=True)
class RequestFacts:
    """What the gate needs to know of a request."""

    kind: Literal["http", "websocket"]
    method: str
    path: str
    scheme: Literal["http", "https"]
    host: str | None
    origin: str | None
    sec_fetch_site: str | None
    content_type: str | None
    has_body: bool
    credential: "Proof"
    principal: Principal | None
    """Who the credential belongs to; ``None`` when it is missing or wrong."""
    family: frozenset[str] = frozenset()
    """The chats that the chat or file in the path belongs to; for those with few rights only."""
    speaks_for: frozenset[str] = frozenset()
    """The chat that a header names, and those above it; likewise."""


@dataclass(frozen=True)
class AccessPolicy:
    """The rules of one service."""

    allowed_hosts: frozenset[str] = frozenset()
    allowed_origins: frozenset[str] = frozenset()
    desktop: str = ""
    """The id of the desktop that this service is, if it is one."""

    def need(self, approach: RequestFacts) -> Need | None:
        """Return what is needed beside the rights of an administrator."""
        reads = approach.kind == "http" and approach.method in SAFE_METHODS
        return need(approach.path, reads=reads, own_desktop=self.desktop)

    def refusal(self, approach: RequestFacts) -> Denial | None:
        """Return why the request is turned away, or ``None`` when it passes."""
        if not host_allowed(approach.host, self.allowed_hosts):
            return Denial(
                421,
                "Wrong host.",
                f"{approach.host!r} is neither a loopback address nor listed in allowed_hosts",
            )
        if is_open(approach.path):
            # Signing in is a POST that carries no cookie yet: a foreign page must not do it.
            if approach.method not in SAFE_METHODS and approach.origin is not None:
                return self._origin_refusal(approach) or _body_refusal(approach)
            return _body_refusal(approach)
        if approach.principal is None:
            return _credential_refusal(approach)
        return (
            self._origin_refusal(approach)
            or self._scope_refusal(approach, approach.principal)
            or _body_refusal(approach)
        )

    def _scope_refusal(self, approach: RequestFacts, principal: Principal) -> Denial | None:
        if not allows(principal.scopes, self.need(approach), approach.family):
            return Denial(403, "Not allowed.", "this credential is not good for that")
        bound = chats_of(principal.scopes)
        if bound and approach.speaks_for and approach.speaks_for.isdisjoint(bound):
            return Denial(403, "Not allowed.", "this credential speaks for another chat")
        return None

    def _origin_refusal(self, approach: RequestFacts) -> Denial | None:
        own = f"{approach.scheme}://{approach.host}"
        if approach.origin is not None:
            if approach.origin == own or approach.origin in self.allowed_origins:
                return None
            return Denial(403, "Foreign origin.", f"{approach.origin} may not call this service")
        needs_origin = approach.credential == "cookie" and (
            approach.kind == "websocket" or approach.method not in SAFE_METHODS
        )
        if not needs_origin or approach.sec_fetch_site == "same-origin":
            return None
        return Denial(403, "Missing origin.", "a browser's request must carry its Origin")


def _credential_refusal(approach: RequestFacts) -> Denial:
    if approach.credential == "none":
        return Denial(
            401, "Sign in first.", "send the header 'Authorization: Bearer TOKEN' or open /login"
        )
    return Denial(401, "Wrong or ended credential.", wrong_credential=True)


def _body_refusal(approach: RequestFacts) -> Denial | None:
    if not approach.has_body or approach.method in SAFE_METHODS:
        return None
    # A browser can send a body without a type across origins, a program with a token cannot be
    # tricked into it: only the token's holder may leave the type out.
    if approach.content_type is None and approach.credential == "bearer":
        return None
    media_type = (approach.content_type or "").partition(";")[0].strip().lower()
    if media_type in BODY_TYPES:
        return None
    return Denial(
        415, "Unsupported content type.", f"send {' or '.join(BODY_TYPES)}, not {media_type!r}"
    )


def is_open(path: str) -> bool:
    """Return whether a path needs no credential."""
    return path in OPEN_PATHS or path.startswith(OPEN_PREFIXES)


def host_allowed(host: str | None, listed: Collection[str]) -> bool:
    """Return whether a ``Host`` header names this machine from inside, or is listed."""
    if host is None:
        return False
    if host in listed:
        return True
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if name in listed or name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def largest_body(content_type: str | None) -> int:
    """Return how many bytes a body of that type may have."""
    media_type = (content_type or "").partition(";")[0].strip().lower()
    return LARGEST_UPLOAD if media_type == "application/octet-stream" else LARGEST_JSON


def digest(secret: str) -> str:
    """Return the form in which a secret is kept: nobody can read the secret from it."""
    return hashlib.sha256(secret.encode()).hexdigest()


def bearer_of(authorization: str | None) -> str | None:
    """Return the token of an ``Authorization`` header, RFC 6750 section 2.1."""
    scheme, _, token = (authorization or "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def cookie_of(header: str | None, name: str) -> str | None:
    """Return one cookie's value, RFC 6265 section 4.2.1."""
    for pair in (header or "").split(";"):
        key, _, value = pair.strip().partition("=")
        if key == name:
            return value or None
    return None
