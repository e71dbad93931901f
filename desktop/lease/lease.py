"""The rules of control over one desktop: who may act and who may see. Pure; time is an argument.

States. *Free*: any agent may act. *Chat*: one chat acts, other chats are refused (`HeldByChat`).
*Person*: a person is in control and all agents are refused (`HumanInControl`); in *private* they
may not see the screen either. Then a *control request* of another person may be pending.

Events. A chat acquires control by acting. It loses it `IDLE_CHAT` seconds after its last action,
by `release_chat` or `end`, or to a person. A person acquires control by `take`, and loses it by
`release`, `end` or a forced `take`, `IDLE_PERSON` seconds after the last input, or `ABSENT_PERSON`
seconds after the last connection was closed. `release` and these limits grant a pending request.
Without an answer a request ends after `REQUEST_TIMEOUT`; `take_over_on_timeout` decides whether
control passes on. `renew` refuses it.

Invariants. A person and a chat are never in control together, and no request is pending without a
person in control. A chat is not idle during an action. Each control session ends once, with one
`Reason`. `revision` grows with every change that observers can see.

Rationale. A person goes before agents without asking, since an agent can repeat its action. The
limits end what a closed laptop or a crashed program would hold for ever. No timer runs here: the
caller calls `tick` at the time that `deadline` returns, and methods that decide call it first, so
that a late timer changes no decision. Times are seconds on one monotonic clock.
"""

from dataclasses import dataclass
from typing import Literal

from deskhand.desktop.errors import HeldByChat, HumanInControl, NotInControl

IDLE_PERSON = 600.0
"""Seconds after the last input."""
ABSENT_PERSON = 15.0
"""Seconds after the last connection was closed."""
REQUEST_TIMEOUT = 10.0
"""Seconds in which the person in control may answer a request."""
IDLE_CHAT = 30.0
"""Seconds after the last action."""

Reason = Literal["released", "idle", "left", "passed on", "forced"]


@dataclass(frozen=True)
class Person:
    """A person's name, and the key of the page or program through which the person acts."""

    name: str
    key: str


@dataclass(frozen=True)
class ControlSession:
    """A completed time of a person in control; keys and clicks are counted and never kept."""

    name: str
    started: float
    ended: float
    keys: int
    clicks: int
    private: bool
    reason: Reason

    @property
    def seconds(self) -> float:
        """Duration."""
        return self.ended - self.started


@dataclass(frozen=True)
class ControlRequest:
    """A pending request for control that another person has."""

    person: Person
    until: float
    take_over_on_timeout: bool
    """True if control passes to ``person`` when no answer comes."""
    private: bool


@dataclass
class _OpenSession:
    person: Person
    started: float
    private: bool
    last_input: float
    disconnected_at: float | None = None
    keys: int = 0
    clicks: int = 0


class LeaseRules:
    """The lease of one desktop."""

    def __init__(self) -> None:
        self.revision = 0
        """Grows with every change of the holder or of the pending request."""
        self.last: ControlSession | None = None
        """The newest completed control session."""
        self.sessions = 0
        """The number of completed control sessions."""
        self.request: ControlRequest | None = None
        self._open: _OpenSession | None = None
        self._connections: dict[str, int] = {}
        self._chat: str | None = None
        self._chat_last_action = 0.0
        self._chat_running_actions = 0

    @property
    def person(self) -> Person | None:
        """The person in control."""
        return self._open.person if self._open else None

    @property
    def private(self) -> bool:
        """True while only the person in control may see the screen."""
        return self._open is not None and self._open.private

    @property
    def since(self) -> float:
        """Start of the present control session; 0 without one."""
        return self._open.started if self._open else 0.0

    @property
    def chat(self) -> str | None:
        """The chat in control."""
        return self._chat

    def holds_control(self, key: str) -> bool:
        """Return whether that page or program is in control."""
        return self._open is not None and self._open.person.key == key

    def take(
        self,
        person: Person,
        now: float,
        *,
        private: bool = True,
        take_over_on_timeout: bool = True,
        force: bool = False,
    ) -> bool:
        """Give control to a person, or request it from its holder; return whether it was given.

        ``force`` ends another person's session without a request.
        """
        self.tick(now)
        session = self._open
        if session is not None and session.person.key != person.key and not force:
            # The first request stays until it ends: a later one must not push it aside. Repeating
            # it changes what is requested and does not extend the time to answer.
            if self.request is None or self.request.person.key == person.key:
                until = self.request.until if self.request else now + REQUEST_TIMEOUT
                self._set_request(ControlRequest(person, until, take_over_on_timeout, private))
            return False
        if session is not None and session.person.key == person.key:
            # The holder takes control again: the session goes on.
            session.last_input = now
            if (session.person, session.private) != (person, private):
                session.person, session.private = person, private
                self.revision += 1
            return True
        if session is not None:
            self._end(session, now, "forced")
        self._give(person, now, private)
        return True

    def release(self, key: str, now: float) -> None:
        """End control; a pending request is granted.

        Raises:
            NotInControl: If that page or program is not in control.
        """
        self._pass_on(self._session_of(key, now), now, "released")

    def end(self, now: float) -> None:
        """End the control of any person or chat; a pending request is dropped."""
        self.tick(now)
        session = self._open
        if session is not None:
            self._end(session, now, "forced")
        if self._chat is not None:
            self._chat = None
            self.revision += 1

    def renew(self, key: str, now: float) -> None:
        """Keep control, and refuse a pending request.

        Raises:
            NotInControl: If that page or program is not in control.
        """
        self._session_of(key, now).last_input = now
        self._set_request(None)

    def used(self, key: str, now: float, *, keys: int = 0, clicks: int = 0) -> None:
        """Count input of the person in control; other input is ignored."""
        if self._open is not None and self._open.person.key == key:
            self._open.last_input = now
            # The revision stays: each key would otherwise wake all observers of the lease.
            self._open.keys += keys
            self._open.clicks += clicks

    def joined(self, key: str) -> None:
        """Count a new connection of that page or program."""
        self._connections[key] = self._connections.get(key, 0) + 1
        if self._open is not None and self._open.person.key == key:
            self._open.disconnected_at = None

    def parted(self, key: str, now: float) -> None:
        """Count the end of a connection."""
        # A page or program may have several connections; only the end of its last one counts as
        # leaving.
        remaining = self._connections.pop(key) - 1
        if remaining:
            self._connections[key] = remaining
        elif self._open is not None and self._open.person.key == key:
            self._open.disconnected_at = now

    def check_act(self, chat: str, now: float) -> None:
        """Give control to a chat, or keep it there; an agent without a chat acquires nothing.

        Raises:
            HumanInControl: While a person is in control.
            HeldByChat: While another chat acts, and for a while after.
        """
        self.tick(now)
        if self._open is not None:
            raise HumanInControl(self._open.person.name)
        # A chat holds control by its id; a client such as curl has none to hold it by.
        if not chat:
            return
        if self._chat is not None and self._chat != chat:
            raise HeldByChat(self._chat, self._chat_last_action + IDLE_CHAT - now)
        if self._chat is None:
            # Actions of the chat before may still run. `acting` ignores their end: their chat is
            # not this one.
            self._chat = chat
            self._chat_running_actions = 0
            self.revision += 1
        self._chat_last_action = now

    def acting(self, chat: str, now: float, *, begins: bool) -> None:
        """Count the begin or end of a chat's action; while one runs the chat is not idle."""
        if chat and chat == self._chat:
            change = 1 if begins else -1
            self._chat_running_actions = max(0, self._chat_running_actions + change)
            self._chat_last_action = now

    def release_chat(self, chat: str, now: float) -> None:
        """End the control of that chat at once; nothing if it has none."""
        self.tick(now)
        if chat == self._chat:
            self._chat = None
            self.revision += 1

    def check_view(self, now: float) -> None:
        """Check that agents may see the screen.

        Raises:
            HumanInControl: While a person is in control in private.
        """
        self.tick(now)
        if self._open is not None and self._open.private:
            raise HumanInControl(self._open.person.name)

    def deadline(self) -> float | None:
        """Return the time of the next change that needs no event; None if there is none."""
        times = [self.request.until] if self.request else []
        if self._open is not None:
            times.append(self._open.last_input + IDLE_PERSON)
            if self._open.disconnected_at is not None:
                times.append(self._open.disconnected_at + ABSENT_PERSON)
        if self._chat is not None and not self._chat_running_actions:
            times.append(self._chat_last_action + IDLE_CHAT)
        return min(times, default=None)

    def tick(self, now: float) -> None:
        """Apply the limits that have passed at ``now``."""
        session = self._open
        if session is not None:
            gone = session.disconnected_at
            # The limit for a lost connection comes first: it is the shorter one.
            if gone is not None and now >= gone + ABSENT_PERSON:
                self._pass_on(session, now, "left")
            elif now >= session.last_input + IDLE_PERSON:
                self._pass_on(session, now, "idle")
            elif self.request is not None and now >= self.request.until:
                if self.request.take_over_on_timeout:
                    self._pass_on(session, now, "passed on")
                else:
                    self._set_request(None)
        idle = not self._chat_running_actions and now >= self._chat_last_action + IDLE_CHAT
        if self._chat is not None and idle:
            self._chat = None
            self.revision += 1

    def _session_of(self, key: str, now: float) -> _OpenSession:
        self.tick(now)
        if self._open is None or self._open.person.key != key:
            raise NotInControl(self._open.person.name if self._open else "")
        return self._open

    def _pass_on(self, session: _OpenSession, now: float, reason: Reason) -> None:
        # `_end` clears the request.
        request = self.request
        self._end(session, now, reason)
        if request is not None:
            self._give(request.person, now, request.private)

    def _give(self, person: Person, now: float, private: bool) -> None:
        # A program may take control without a connection. It has none to lose, so only idleness
        # ends its session.
        self._open = _OpenSession(person, now, private, now)
        self.request = None
        self._chat = None
        self.revision += 1

    def _end(self, session: _OpenSession, now: float, reason: Reason) -> None:
        self.last = ControlSession(
            *(session.person.name, session.started, now, session.keys, session.clicks),
            *(session.private, reason),
        )
        self.sessions += 1
        self._open = None
        self.request = None
        self.revision += 1

    def _set_request(self, request: ControlRequest | None) -> None:
        if request != self.request:
            self.request = request
            self.revision += 1
