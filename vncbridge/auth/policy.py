"""Decisions about requests: hosts, origins, credentials, scopes, content types. Pure.

Rules: RFC 6454 (origins), RFC 9110 section 7.4 (a request for another host: 421), the Fetch
standard's ``Sec-Fetch-Site``.
"""

import base64
import binascii
import hashlib
import ipaddress
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from .cookie_paths import shown_by_cookie
from .request_headers import PAGE_KEY
from .scopes import ADMIN, Need, allows, chats_of, need

BODY_TYPES = ("application/json", "application/octet-stream")
SAFE_METHODS = ("GET", "HEAD")
OPEN_PATHS = frozenset(
    {"/healthz", "/readyz", "/login", "/login/oidc", "/login/oidc/callback", "/api/v0/login"}
)
OPEN_PREFIXES = ("/assets/", "/viewer/")
LARGEST_JSON = 4 * 1024 * 1024
LARGEST_UPLOAD = 1024 * 1024 * 1024
LARGEST_LOGIN = 4 * 1024
"""Bytes; a code or a token is short, and this body may be sent without a credential."""
LOGIN = "/api/v0/login"
FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")
FORM_DIALECTS = ("osworld",)
"""Dialects whose clients send forms."""
CALLING_DIALECT = "deskhand.dialect"
"""Key of an ASGI scope: the dialect for whose client this process makes the request itself."""
_HOSTS = 128
"""How many hosts of requests are remembered with the decision about them."""
BASE_PATH = "deskhand.base_path"
"""Key of an ASGI scope: the path below which a proxy serves this service, as ``/desk``."""
_DIALECT_MARK = "/as/"
_DIALECT = re.compile(r"/api/v0/desktop(?:s/[^/]+/desktop)?/as/(\w+)(?:/.*)?", re.DOTALL)


class PathTraits(NamedTuple):
    """The properties of a path that access control depends on, beside the rules of scopes."""

    is_open: bool = False
    """True for a path that needs no credential."""
    dialect: str = ""
    """The dialect that the path belongs to."""


_OPEN, _ORDINARY = PathTraits(is_open=True), PathTraits()


Proof = Literal["bearer", "session", "cookie", "ticket", "none"]
"""A ``session`` is a cookie with its page key; a ``cookie`` is one without."""


@dataclass(frozen=True)
class Principal:
    """The holder of a valid credential."""

    name: str
    scopes: tuple[str, ...] = ("admin",)
    via: tuple[str, ...] = field(default=(), compare=False)
    """Names of the token and the session that it was derived from. It ends with any of them."""
    ends: float | None = field(default=None, compare=False)
    """Unix time, in seconds."""
    token_id: str = field(default="", compare=False)
    """The issued token that it was derived from; empty for the owner of the service."""
    origin: str = field(default="", compare=False)
    """For a ticket: the origin of the page that may use it, beside the permitted ones."""
    person: str = field(default="", compare=False)
    """Id of the person who has signed in; empty for tokens, and for an owner without a name."""


@dataclass(frozen=True)
class Denial:
    """The reason why a request is refused."""

    status: int
    message: str
    detail: str = ""
    wrong_credential: bool = False
    """True if the response is delayed, so that guessing is slow."""


class Decision(NamedTuple):
    """The decision about a request."""

    denial: Denial | None
    """The reason why it is refused; None when it passes."""
    reads_conversation: bool
    """True if its credential covers the whole conversation; see `permits_conversation`."""
    largest_body: int
    """The limit of its body, in bytes."""


@dataclass(frozen=True)
class RequestFacts:
    """The facts of a request on which the policy decides."""

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
    """The holder of the credential; ``None`` when it is missing or wrong."""
    family: frozenset[str] = frozenset()
    """The chats that the chat or file in the path belongs to; empty for administrators."""
    speaks_for: frozenset[str] = frozenset()
    """The chat that a header names, and its ancestors; empty for administrators."""
    by_dialect: bool = False
    """True for a call that a dialect of this service makes for its client."""


@dataclass(frozen=True)
class AccessPolicy:
    """The rules of one service."""

    allowed_hosts: frozenset[str] = frozenset()
    allowed_origins: frozenset[str] = frozenset()
    desktop: str = ""
    """The id of the desktop that this service is, if it is one."""

    def need(self, kind: str, method: str, path: str, *, by_dialect: bool = False) -> Need | None:
        """Return what a request needs if its credential is not an administrator's."""
        reads = kind == "http" and method in SAFE_METHODS
        return need(path, reads=reads, own_desktop=self.desktop, by_dialect=by_dialect)

    def refusal(self, facts: RequestFacts) -> Denial | None:
        """Return why the request is refused, or ``None`` when it passes."""
        return self._decided(facts).denial

    def permits_conversation(self, facts: RequestFacts) -> bool:
        """Return whether the credential of a request that passes covers the whole conversation.

        A share link covers it only where that was requested. True for requests that are not about
        a chat or a file.
        """
        return self._decided(facts).reads_conversation

    def decide(self, facts: RequestFacts, traits: PathTraits, needed: Need | None) -> Decision:
        """Return the decision about a request, with what is known of it already.

        ``traits`` are those of its path. ``needed`` is what `need` returns, which only a request
        depends on whose principal is no administrator.
        """
        media_type = _media_type(facts.content_type)
        return Decision(
            self._denial(facts, traits, needed, media_type),
            facts.credential != "cookie" and _reads_conversation(facts, needed),
            _largest_body(media_type, facts.path),
        )

    def _decided(self, facts: RequestFacts) -> Decision:
        needed = self.need(facts.kind, facts.method, facts.path, by_dialect=facts.by_dialect)
        return self.decide(facts, traits_of(facts.path), needed)

    def _denial(
        self, facts: RequestFacts, traits: PathTraits, needed: Need | None, media_type: str
    ) -> Denial | None:
        # The host precedes all other rules: behind a name that its attacker rebinds (DNS
        # rebinding), a foreign page has the origin of this service.
        if not host_allowed(facts.host, self.allowed_hosts):
            return Denial(
                421,
                "Wrong host.",
                f"{facts.host!r} is neither a loopback address nor listed in allowed_hosts",
            )
        if traits.is_open:
            # The sign-in is a POST without a cookie, which a foreign page must not send.
            if facts.method not in SAFE_METHODS and facts.origin is not None:
                refused = self._origin_refusal(facts)
                return refused or _body_refusal(facts, traits, media_type)
            return _body_refusal(facts, traits, media_type)
        # Clients of dialects are no pages: a browser that sends an Origin is used by one.
        if traits.dialect and facts.origin is not None:
            return Denial(403, "Foreign origin.", "pages may not call a dialect")
        if facts.principal is None:
            return _credential_refusal(facts)
        return (
            self._origin_refusal(facts)
            or _cookie_refusal(facts)
            or _scope_refusal(facts, facts.principal, needed)
            or _body_refusal(facts, traits, media_type)
        )

    def _origin_refusal(self, facts: RequestFacts) -> Denial | None:
        own = f"{facts.scheme}://{facts.host}"
        if facts.origin is not None:
            named = facts.principal.origin if facts.principal is not None else ""
            if facts.origin in (own, named) or facts.origin in self.allowed_origins:
                return None
            return Denial(403, "Foreign origin.", f"{facts.origin} may not call this service")
        # Browsers add a cookie by themselves, also to requests of foreign pages, which may open
        # WebSockets to any host (RFC 6455 section 10.2). A caller adds its token or ticket itself.
        needs_origin = facts.credential in ("cookie", "session") and (
            facts.kind == "websocket" or facts.method not in SAFE_METHODS
        )
        if not needs_origin or facts.sec_fetch_site == "same-origin":
            return None
        return Denial(403, "Missing origin.", "a browser's request must carry its Origin")


def _reads_conversation(facts: RequestFacts, needed: Need | None) -> bool:
    if facts.principal is None or ADMIN in facts.principal.scopes:
        return True
    if needed is None or needed.kind not in ("chat", "file"):
        return True
    return allows(facts.principal.scopes, needed._replace(level="view"), facts.family)


def _scope_refusal(facts: RequestFacts, principal: Principal, needed: Need | None) -> Denial | None:
    if ADMIN in principal.scopes:
        return None
    if not allows(principal.scopes, needed, facts.family):
        return Denial(403, "Not allowed.", "this credential is not good for that")
    # The header decides in whose name the desktop acts, so a chat's credential may name only its
    # own chat and those below it.
    bound = chats_of(principal.scopes)
    if (bound or principal.person) and facts.speaks_for and facts.speaks_for.isdisjoint(bound):
        return Denial(403, "Not allowed.", "this credential speaks for another chat")
    return None


def _cookie_refusal(facts: RequestFacts) -> Denial | None:
    """Return why a request with the cookie alone is refused.

    Every other server of the host gets the cookie, and can send it with any header.
    """
    reads = facts.kind == "http" and facts.method in SAFE_METHODS
    if facts.credential != "cookie" or (reads and shown_by_cookie(facts.path)):
        return None
    return Denial(
        401,
        "Sign in again.",
        f"the cookie of a session needs the header {PAGE_KEY} that belongs to it, and a WebSocket"
        f" a ticket; POST {LOGIN} returns a key for the address of the page",
    )


def _credential_refusal(facts: RequestFacts) -> Denial:
    if facts.credential == "none":
        return Denial(
            401, "Sign in first.", "send the header 'Authorization: Bearer TOKEN' or open /login"
        )
    return Denial(401, "Wrong or ended credential.", wrong_credential=True)


def _body_refusal(facts: RequestFacts, traits: PathTraits, media_type: str) -> Denial | None:
    if not facts.has_body or facts.method in SAFE_METHODS:
        return None
    # A foreign page can make a browser send a body without a type, but not a bearer token: only a
    # request with a token may omit the type.
    if facts.content_type is None and facts.credential == "bearer":
        return None
    forms = FORM_TYPES if traits.dialect in FORM_DIALECTS else ()
    if media_type in (*BODY_TYPES, *forms):
        return None
    return Denial(
        415, "Unsupported content type.", f"send {' or '.join(BODY_TYPES)}, not {media_type!r}"
    )


def _media_type(content_type: str | None) -> str:
    return content_type.partition(";")[0].strip().lower() if content_type else ""


def traits_of(path: str) -> PathTraits:
    """Return the properties of a path."""
    if is_open(path):
        return _OPEN
    dialect = dialect_of(path)
    return PathTraits(dialect=dialect) if dialect else _ORDINARY


def dialect_of(path: str) -> str:
    """Return the dialect that a path belongs to; empty if it belongs to none."""
    # Most paths need no search.
    found = _DIALECT.fullmatch(path) if _DIALECT_MARK in path else None
    return found[1] if found else ""


def is_open(path: str) -> bool:
    """Return whether a path needs no credential."""
    return path in OPEN_PATHS or path.startswith(OPEN_PREFIXES)


def host_allowed(host: str | None, listed: Collection[str]) -> bool:
    """Return whether a ``Host`` header names a loopback address, or is listed."""
    return host is not None and _is_local_or_listed(host, frozenset(listed))


@lru_cache(_HOSTS)
def _is_local_or_listed(host: str, listed: frozenset[str]) -> bool:
    # A host has neither user info nor a path (RFC 9110 section 7.2), which ``urlsplit`` would skip:
    # another program may read another host there.
    if any(mark in host for mark in "@/?#\\"):
        return False
    if host in listed:
        return True
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    # Names below ``localhost`` are loopback as well (RFC 6761 section 6.3).
    if name in listed or name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def largest_body(content_type: str | None, path: str = "") -> int:
    """Return the limit of a body of that type, in bytes."""
    return _largest_body(_media_type(content_type), path)


def _largest_body(media_type: str, path: str) -> int:
    if path == LOGIN:
        return LARGEST_LOGIN
    large = media_type == "application/octet-stream" or media_type in FORM_TYPES
    return LARGEST_UPLOAD if large else LARGEST_JSON


def digest(secret: str) -> str:
    """Return the form in which a secret is kept, from which it cannot be recovered."""
    # Secrets are random and long, so no slow password hash is needed.
    return hashlib.sha256(secret.encode()).hexdigest()


def bearer_of(authorization: str | None) -> str | None:
    """Return the token of an ``Authorization`` header, RFC 6750 section 2.1."""
    scheme, _, token = (authorization or "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def dialect_token(authorization: str | None) -> str | None:
    """Return the token of a dialect's client: bearer or password of HTTP Basic.

    HTTP Basic (RFC 7617) is what programs send that take ``NAME:TOKEN@HOST`` or ``~/.netrc``.
    """
    scheme, _, value = (authorization or "").partition(" ")
    if scheme.lower() == "basic":
        try:
            pair = base64.b64decode(value.strip(), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            pair = ""
        # A wrong credential, not a missing one: it is refused after a delay.
        return pair.partition(":")[2]
    return bearer_of(authorization)


def cookie_of(header: str | None, name: str) -> str | None:
    """Return one cookie's value, RFC 6265 section 4.2.1."""
    for pair in (header or "").split(";"):
        key, _, value = pair.strip().partition("=")
        if key == name:
            return value or None
    return None
