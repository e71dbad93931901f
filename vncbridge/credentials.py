"""Tokens, login codes and browser sessions, each kept as a digest only."""

import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .gate import Principal, digest

CODE_SECONDS = 600.0
SESSION_SECONDS = 30 * 24 * 3600.0
TOKEN_PREFIX = "dh_"  # noqa: S105 - says whose token it is, so that scanners find leaked ones


@dataclass(frozen=True)
class Session:
    """A browser that signed in."""

    name: str
    ends: float
    """Unix time, in seconds."""


def new_token() -> str:
    """Return a fresh random token."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


class Credentials:
    """What this service accepts as proof.

    ``now`` gives unix time; sessions outlive a restart, so it is not the monotonic clock.
    ``kept`` is told of every change of the sessions, by digest.
    """

    def __init__(
        self,
        instance: str,
        now: Callable[[], float],
        *,
        sessions: Mapping[str, Session] | None = None,
        kept: Callable[[Mapping[str, Session]], None] = lambda _: None,
    ) -> None:
        self.cookie_name = f"deskhand_{instance[:8]}"
        self._now = now
        self._tokens: dict[str, Principal] = {}
        self._codes: dict[str, float] = {}
        self._sessions = dict(sessions or {})
        self._kept = kept

    def accept_token(self, token: str, principal: Principal) -> None:
        """Accept a token as that principal from now on."""
        self._tokens[digest(token)] = principal

    def by_token(self, token: str) -> Principal | None:
        """Return whose token it is."""
        shown = digest(token)
        found = None
        # Every token is looked at, so that the time taken tells nothing.
        for known, principal in self._tokens.items():
            if hmac.compare_digest(known, shown):
                found = principal
        return found

    def new_code(self) -> str:
        """Return a login code that works once, for ten minutes."""
        now = self._now()
        self._codes = {code: ends for code, ends in self._codes.items() if ends > now}
        code = secrets.token_urlsafe(18)
        self._codes[digest(code)] = now + CODE_SECONDS
        return code

    def sign_in(self, secret: str) -> str | None:
        """Trade a login code, or a token, for a new session's cookie value."""
        ends = self._codes.pop(digest(secret), 0.0)
        if ends <= self._now() and self.by_token(secret) is None:
            return None
        cookie = secrets.token_urlsafe(32)
        self._sessions = {k: s for k, s in self._sessions.items() if s.ends > self._now()}
        self._sessions[digest(cookie)] = Session("browser", self._now() + SESSION_SECONDS)
        self._kept(self._sessions)
        return cookie

    def by_cookie(self, cookie: str) -> Principal | None:
        """Return who signed in with that cookie."""
        session = self._sessions.get(digest(cookie))
        if session is None or session.ends <= self._now():
            return None
        return Principal(session.name)

    def sign_out(self, cookie: str) -> None:
        """End a session; one that is unknown has ended already."""
        if self._sessions.pop(digest(cookie), None) is not None:
            self._kept(self._sessions)
