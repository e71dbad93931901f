"""Tokens, tickets, login codes and browser sessions, each kept as a digest only.

Sessions and issued tokens are in memory, so that a request costs no read, and in the records of
the service. Services that share their records (`CredentialRecords.shared`) look up there what they
do not know, as another one may have made it a moment ago, and report to the others what has ended:
`CredentialRecords.announce` there leads to `Credentials.changed_elsewhere` here.
"""

import hmac
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from .one_time import OneTimeSecret, OneTimeSecrets, OwnOneTimeSecrets
from .page_keys import PageKeys
from .people import NoPeople, PeopleDirectory, credential_of, person_of
from .policy import Principal, digest
from .revocation import CredentialLifetimes

CODE_SECONDS = 600.0
SESSION_SECONDS = 30 * 24 * 3600.0
_TOKENS, _PEOPLE = "tokens:", "people:"
"""What is announced when there are more of them."""
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

    shared: bool
    """True if other services have the same records."""

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

    async def session(self, cookie_digest: str) -> Session | None:
        """Return a stored session."""

    async def token(self, token_digest: str) -> Issued | None:
        """Return a stored token."""

    async def tokens(self) -> Sequence[Issued]:
        """Return all stored tokens, the oldest first."""

    async def announce(self, name: str) -> None:
        """Report to the other services that a credential has ended or changed."""


class NoRecords:
    """The storage of a service whose credentials end with it."""

    shared = False

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

    async def session(self, cookie_digest: str) -> Session | None:
        """Return None."""
        return None

    async def token(self, token_digest: str) -> Issued | None:
        """Return None."""
        return None

    async def tokens(self) -> Sequence[Issued]:
        """Return none."""
        return ()

    async def announce(self, name: str) -> None:
        """Report nothing."""


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
        one_time: OneTimeSecrets | None = None,
        page_keys: PageKeys | None = None,
    ) -> None:
        self.instance = instance
        """Id of the service that accepts them; it survives a restart."""
        self.cookie_name = f"deskhand_{instance[:8]}"
        self.link_cookie_name = f"{self.cookie_name}_link"
        """Cookie of a guest's session beside that of a person in the same browser."""
        self.page_keys = page_keys or PageKeys()
        """The second halves of sessions."""
        self._now = now
        self._tokens: dict[str, Principal] = {}
        self._sessions = dict(sessions or {})
        self._issued = {one.id: one for one in issued}
        self._one_time = one_time or OwnOneTimeSecrets(now)
        self._records = records or NoRecords()
        self._people = people or NoPeople()
        self.lifetimes = CredentialLifetimes(now)
        """The requests that use these credentials."""
        self.on_end: Callable[[str], None] = _ignore
        """Called with the name of each credential that ends here or has other rights."""

    @property
    def cookie_names(self) -> tuple[str, str]:
        """The names of the cookies that sessions have."""
        return self.cookie_name, self.link_cookie_name

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

    async def find_token(self, token: str) -> Principal | None:
        """Return the principal of a token, also of one that another service has issued."""
        found = self.by_token(token)
        if found is None and self._records.shared:
            one = await self._records.token(digest(token))
            if one is not None:
                self._issued[one.id] = one
                found = self.by_token(token)
        return found

    async def find_cookie(self, cookie: str) -> Principal | None:
        """Return the principal of a session cookie, also of a sign-in at another service."""
        found = self.by_cookie(cookie)
        if found is None and self._records.shared:
            session = await self._records.session(digest(cookie))
            if session is not None:
                self._sessions[digest(cookie)] = session
                # The person may have been added there, too.
                await self._people.refresh()
                found = self.by_cookie(cookie)
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
        await self._records.announce(_TOKENS)
        return one, token

    async def revoke(self, token_id: str) -> bool:
        """End a token with its sessions, tickets and streams; return whether there was one.

        They end also if the storage fails, and the next attempt removes the record.
        """
        found = self._issued.pop(token_id, None) is not None
        self._sessions = {k: s for k, s in self._sessions.items() if s.token != token_id}
        await self._end(_token(token_id))
        removed = await self._records.remove_token(token_id)
        # Not before: another service would find the record, and accept the token again.
        await self._records.announce(_token(token_id))
        return removed or found

    async def ticket(self, principal: Principal, seconds: float) -> tuple[str, float]:
        """Return a secret that opens one WebSocket, and its expiry (unix time)."""
        ticket, ends = secrets.token_urlsafe(24), self._now() + seconds
        await self._one_time.add(digest(ticket), OneTimeSecret("ticket", ends, principal))
        return ticket, ends

    async def by_ticket(self, ticket: str) -> Principal | None:
        """Return the principal of a ticket, and invalidate the ticket."""
        found = await self._one_time.take("ticket", digest(ticket))
        return None if found is None else found.principal

    async def new_code(self, person: str = "") -> str:
        """Return a login code that works once, for ten minutes, and signs in as that person."""
        code, ends = secrets.token_urlsafe(18), self._now() + CODE_SECONDS
        # Only administrators can make codes, so a session without a person has their scope.
        holder = Principal("browser", person=person)
        await self._one_time.add(digest(code), OneTimeSecret("code", ends, holder))
        return code

    async def sign_in(self, secret: str) -> str | None:
        """Exchange a login code, or a token, for a new session's cookie value."""
        session = await self._session_for(secret)
        if session is None and (invited := await self._people.redeem(digest(secret))):
            session = await self._person_session(invited)
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

    async def _session_for(self, secret: str) -> Session | None:
        longest = self._now() + SESSION_SECONDS
        code = await self._one_time.take("code", digest(secret))
        if code is not None:
            person = code.principal.person
            return await self._person_session(person) if person else Session("browser", longest)
        principal = await self.find_token(secret)
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

    async def end_streams(self, person: str) -> None:
        """End the tickets and streams of a person whose rights are others now."""
        await self._end(credential_of(person))
        await self._records.announce(credential_of(person))

    async def end_person(self, person: str) -> None:
        """End the sessions, tickets and streams of a person."""
        credential = credential_of(person)
        self._sessions = {k: s for k, s in self._sessions.items() if s.token != credential}
        await self._end(credential)
        await self._records.remove_sessions(credential)
        await self._records.announce(credential)

    async def changed_elsewhere(self, name: str) -> None:
        """Take over what another service has announced, and end the streams that are over."""
        kind, _, key = name.partition(":")
        match kind:
            case "token":
                self._issued.pop(key, None)
                self._sessions = {k: s for k, s in self._sessions.items() if s.token != key}
            case "session":
                self._sessions.pop(key, None)
            case "tokens":
                self._issued = {one.id: one for one in await self._records.tokens()}
            case _:
                await self._people.refresh()
        self.lifetimes.end(name)

    async def announce_people(self) -> None:
        """Report to the other services that people were added, changed or removed."""
        await self._records.announce(_PEOPLE)

    async def _person_session(self, person_id: str) -> Session | None:
        if self._records.shared:
            # Another service may have added the person.
            await self._people.refresh()
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
            await self._end(_session(digest(cookie)))
        await self._records.remove_session(digest(cookie))
        await self._records.announce(_session(digest(cookie)))

    async def _end(self, name: str) -> None:
        self.lifetimes.end(name)
        self.on_end(name)
        # An unused ticket would otherwise open a stream after its credential has ended.
        await self._one_time.end(name)

    def _expired(self, one: Issued) -> bool:
        return one.ends is not None and one.ends <= self._now()


def _ignore(name: str) -> None: ...


def _token(token_id: str) -> str:
    return f"token:{token_id}"


def _session(cookie_digest: str) -> str:
    return f"session:{cookie_digest}"
