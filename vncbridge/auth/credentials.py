"""Tokens, tickets, login codes and browser sessions, each kept as a digest only."""

import hmac
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from .people import NoPeople, PeopleDirectory, credential_of, person_of
from .policy import Principal, digest
from .revocation import CredentialLifetimes

CODE_SECONDS = 600.0
MOST_TICKETS = 1000
SESSION_SECONDS = 30 * 24 * 3600.0
TOKEN_PREFIX = "dh_"  # noqa: S105 - lets scanners recognize leaked tokens


@dataclass(frozen=True)
class Session:
    """A browser that signed in."""

    name: str
    ends: float
    """Unix time, in seconds."""
    scopes: tuple[str, ...] = ("admin",)
    token: str = ""
    """The id of the token that it was exchanged for, with which it ends, or ``person:ID``."""


@dataclass(frozen=True)
class Issued:
    """A token that was issued, and can be revoked."""

    id: str
    name: str
    scopes: tuple[str, ...]
    created: float
    ends: float | None
    """Unix times, in seconds."""
    digest: str
    created_by: str = ""
    """Name of the credential that it was issued with; empty for tokens of earlier versions."""


class CredentialRecords(Protocol):
    """Port to the storage of sessions and issued tokens, which outlive the process.

    Each method returns when the change is stored, and raises the error of the storage otherwise.
    """

    async def add_session(self, cookie_digest: str, session: Session) -> None:
        """Store a session."""

    async def remove_session(self, cookie_digest: str) -> None:
        """Remove a session."""

    async def add_token(self, token: Issued) -> None:
        """Store an issued token."""

    async def remove_token(self, token_id: str) -> bool:
        """Remove a token and its sessions; return whether it was stored."""

    async def remove_sessions(self, token_id: str) -> None:
        """Remove the sessions of a token or a person."""


class NoRecords:
    """The storage of a service whose credentials end with it."""

    async def add_session(self, cookie_digest: str, session: Session) -> None:
        """Store nothing."""

    async def remove_session(self, cookie_digest: str) -> None:
        """Remove nothing."""

    async def add_token(self, token: Issued) -> None:
        """Store nothing."""

    async def remove_token(self, token_id: str) -> bool:
        """Return that it was not stored."""
        return False

    async def remove_sessions(self, token_id: str) -> None:
        """Remove nothing."""


class _Ticket(NamedTuple):
    ends: float
    principal: Principal


class _Code(NamedTuple):
    ends: float
    person: str


def new_token() -> str:
    """Return a fresh random token."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


class Credentials:
    """The credentials that this service accepts.

    ``now`` returns unix time; sessions outlive a restart, so it is not the monotonic clock.
    ``sessions``, by the digest of their cookie, and ``issued`` are what ``records`` has stored.
    """

    def __init__(
        self,
        instance: str,
        now: Callable[[], float],
        *,
        sessions: Mapping[str, Session] | None = None,
        issued: Sequence[Issued] = (),
        records: CredentialRecords | None = None,
        people: PeopleDirectory | None = None,
    ) -> None:
        self.instance = instance
        """Id of the service that accepts them; it survives a restart."""
        self.cookie_name = f"deskhand_{instance[:8]}"
        self._now = now
        self._tokens: dict[str, Principal] = {}
        self._codes: dict[str, _Code] = {}
        self._sessions = dict(sessions or {})
        self._issued = {one.id: one for one in issued}
        self._tickets: dict[str, _Ticket] = {}
        self._records = records or NoRecords()
        self._people = people or NoPeople()
        self.lifetimes = CredentialLifetimes(now)
        """The requests that use these credentials."""

    def accept_token(self, token: str, principal: Principal) -> None:
        """Accept a token as that principal from now on."""
        self._tokens[digest(token)] = principal

    def by_token(self, token: str) -> Principal | None:
        """Return the principal of a token."""
        shown = digest(token)
        found = None
        # Every token is compared, so that the time taken reveals nothing.
        for known, principal in self._tokens.items():
            if hmac.compare_digest(known, shown):
                found = principal
        for one in self._issued.values():
            if hmac.compare_digest(one.digest, shown) and not self._expired(one):
                found = Principal(one.name, one.scopes, (_token(one.id),), one.ends, one.id)
        return found

    @property
    def issued(self) -> tuple[Issued, ...]:
        """The tokens that work, oldest first."""
        return tuple(one for one in self._issued.values() if not self._expired(one))

    async def issue(
        self, name: str, scopes: tuple[str, ...], seconds: float | None, created_by: str = ""
    ) -> tuple[Issued, str]:
        """Make a token; return its record, and the token itself, which is not stored."""
        token, now = new_token(), self._now()
        ends = None if seconds is None else now + seconds
        one = Issued(*(secrets.token_hex(8), name, scopes, now, ends, digest(token), created_by))
        await self._records.add_token(one)
        self._issued = {other.id: other for other in (*self.issued, one)}
        return one, token

    async def revoke(self, token_id: str) -> bool:
        """End a token with its sessions, tickets and streams; return whether there was one.

        They end also if the storage fails, and the next attempt removes the record.
        """
        found = self._issued.pop(token_id, None) is not None
        self._sessions = {k: s for k, s in self._sessions.items() if s.token != token_id}
        self._end(_token(token_id))
        return await self._records.remove_token(token_id) or found

    def ticket(self, principal: Principal, seconds: float) -> tuple[str, float]:
        """Return a secret that opens one WebSocket, and its expiry (unix time)."""
        now = self._now()
        self._tickets = {key: one for key, one in self._tickets.items() if one.ends > now}
        if len(self._tickets) >= MOST_TICKETS:
            # Dicts keep the order of insertion, so the first key is the oldest ticket.
            del self._tickets[next(iter(self._tickets))]
        ticket = secrets.token_urlsafe(24)
        self._tickets[digest(ticket)] = _Ticket(now + seconds, principal)
        return ticket, now + seconds

    def by_ticket(self, ticket: str) -> Principal | None:
        """Return the principal of a ticket, and invalidate the ticket."""
        found = self._tickets.pop(digest(ticket), None)
        return None if found is None or found.ends <= self._now() else found.principal

    def new_code(self, person: str = "") -> str:
        """Return a login code that works once, for ten minutes, and signs in as that person."""
        now = self._now()
        self._codes = {key: one for key, one in self._codes.items() if one.ends > now}
        code = secrets.token_urlsafe(18)
        self._codes[digest(code)] = _Code(now + CODE_SECONDS, person)
        return code

    async def sign_in(self, secret: str) -> str | None:
        """Exchange a login code, or a token, for a new session's cookie value."""
        session = self._session_for(secret)
        if session is None and (invited := await self._people.redeem(digest(secret))):
            session = self._person_session(invited)
        return None if session is None else await self.open_session(session)

    async def sign_in_person(self, person: str) -> str | None:
        """Open a session for a person whom another service has identified."""
        session = self._person_session(person)
        return None if session is None else await self.open_session(session)

    async def open_session(self, session: Session) -> str | None:
        """Store a new session, and return its cookie value; None if its credential has ended."""
        cookie = secrets.token_urlsafe(32)
        await self._records.add_session(digest(cookie), session)
        if session.token and not self._accepts(session.token):
            # The token was revoked, or the person removed, meanwhile.
            await self._records.remove_session(digest(cookie))
            return None
        self._sessions = {k: s for k, s in self._sessions.items() if s.ends > self._now()}
        self._sessions[digest(cookie)] = session
        return cookie

    def _session_for(self, secret: str) -> Session | None:
        now = self._now()
        longest = now + SESSION_SECONDS
        code = self._codes.pop(digest(secret), None)
        if code is not None and code.ends > now:
            # Only administrators can make codes, so a session without a person has their scope.
            return self._person_session(code.person) if code.person else Session("browser", longest)
        principal = self.by_token(secret)
        if principal is None:
            return None
        exchanged = next((one for one in self.issued if one.digest == digest(secret)), None)
        if exchanged is None:
            return Session("browser", longest, principal.scopes)
        ends = longest if exchanged.ends is None else min(longest, exchanged.ends)
        return Session(exchanged.name, ends, exchanged.scopes, exchanged.id)

    def by_cookie(self, cookie: str) -> Principal | None:
        """Return the principal of a session cookie."""
        session = self._sessions.get(digest(cookie))
        if session is None or session.ends <= self._now():
            return None
        if person_id := person_of(session.token):
            person = self._people.person(person_id)
            if person is None:
                return None
            held = (_session(digest(cookie)), session.token)
            # The role that the person has now, not the one at the sign-in.
            return Principal(
                *(person.name, person.scopes, held, session.ends, session.token),
                person=person_id,
            )
        via = (_session(digest(cookie)), *([_token(session.token)] if session.token else []))
        return Principal(session.name, session.scopes, via, session.ends, session.token)

    def end_streams(self, person: str) -> None:
        """End the tickets and streams of a person whose rights are others now."""
        self._end(credential_of(person))

    async def end_person(self, person: str) -> None:
        """End the sessions, tickets and streams of a person."""
        credential = credential_of(person)
        self._sessions = {k: s for k, s in self._sessions.items() if s.token != credential}
        self._end(credential)
        await self._records.remove_sessions(credential)

    def _person_session(self, person_id: str) -> Session | None:
        person = self._people.person(person_id)
        if person is None:
            return None
        return Session(person.name, self._now() + SESSION_SECONDS, (), credential_of(person_id))

    def _accepts(self, credential: str) -> bool:
        person_id = person_of(credential)
        if person_id:
            return self._people.person(person_id) is not None
        return credential in self._issued

    async def sign_out(self, cookie: str) -> None:
        """End a session; one that is unknown has ended already."""
        if self._sessions.pop(digest(cookie), None) is not None:
            self._end(_session(digest(cookie)))
        await self._records.remove_session(digest(cookie))

    def _end(self, name: str) -> None:
        # An unused ticket would otherwise open a stream after its credential has ended.
        kept = {key: one for key, one in self._tickets.items() if name not in one.principal.via}
        self._tickets = kept
        self.lifetimes.end(name)

    def _expired(self, one: Issued) -> bool:
        return one.ends is not None and one.ends <= self._now()


def _token(token_id: str) -> str:
    return f"token:{token_id}"


def _session(cookie_digest: str) -> str:
    return f"session:{cookie_digest}"
