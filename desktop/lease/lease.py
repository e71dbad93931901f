"""Who may act on a desktop: one person, one chat, or whoever comes. Decisions; time is given.

A person goes before agents: while one is in control no agent acts. Of the agents only one chat
acts at a time. Times are seconds on one monotonic clock.
"""

from dataclasses import dataclass
from typing import Literal

from deskhand.desktop.errors import HeldByChat, HumanInControl, NotInControl

IDLE_PERSON = 600.0
"""Seconds after the last input."""
ABSENT_PERSON = 15.0
"""Seconds after the last connection was lost."""
ASKING = 10.0
"""Seconds in which the one in control may answer somebody who asks."""
IDLE_CHAT = 30.0

Reason = Literal["released", "idle", "left", "passed on", "forced"]


@dataclass(frozen=True)
class Person:
    """Somebody with a name, and what is acted through: one page, or one program."""

    name: str
    key: str


@dataclass(frozen=True)
class ControlSession:
    """A time that a person had; never what was typed."""

    name: str
    started: float
    ended: float
    keys: int
    clicks: int
    private: bool
    reason: Reason

    @property
    def seconds(self) -> float:
        """How long it was."""
        return self.ended - self.started


@dataclass(frozen=True)
class ControlRequest:
    """Somebody wants what another person has."""

    person: Person
    until: float
    insists: bool
    """Whether no answer is a yes."""
    private: bool


@dataclass
class _Held:
    person: Person
    since: float
    private: bool
    used: float
    left: float | None = None
    keys: int = 0
    clicks: int = 0


class LeaseRules:
    """The lease of one desktop."""

    def __init__(self) -> None:
        self.revision = 0
        """Grows whenever somebody else may act, or asks to."""
        self.last: ControlSession | None = None
        """The newest turn that is over."""
        self.turns = 0
        """How many are over."""
        self.asking: ControlRequest | None = None
        self._held: _Held | None = None
        self._present: dict[str, int] = {}
        self._chat: str | None = None
        self._chat_used = 0.0
        self._chat_busy = 0

    @property
    def person(self) -> Person | None:
        """Who is in control."""
        return self._held.person if self._held else None

    @property
    def private(self) -> bool:
        """Whether nobody but the one in control may see the screen."""
        return self._held is not None and self._held.private

    @property
    def since(self) -> float:
        """When the person took it; 0 without one."""
        return self._held.since if self._held else 0.0

    @property
    def chat(self) -> str | None:
        """The chat that acts when no person does."""
        return self._chat

    def holds_control(self, key: str) -> bool:
        """Whether that page or program is in control."""
        return self._held is not None and self._held.person.key == key

    def take(
        self,
        person: Person,
        now: float,
        *,
        private: bool = True,
        insists: bool = True,
        force: bool = False,
    ) -> bool:
        """Give control to a person, or ask the one who has it; return whether it was given.

        Without an answer it passes to one who ``insists``; ``force`` does not ask.
        """
        self.tick(now)
        held = self._held
        if held is not None and held.person.key != person.key and not force:
            if self.asking is None or self.asking.person.key == person.key:
                until = self.asking.until if self.asking else now + ASKING
                self._ask(ControlRequest(person, until, insists, private))
            return False
        if held is not None and held.person.key == person.key:
            held.used = now
            if (held.person, held.private) != (person, private):
                held.person, held.private = person, private
                self.revision += 1
            return True
        if held is not None:
            self._end(held, now, "forced")
        self._give(person, now, private)
        return True

    def release(self, key: str, now: float) -> None:
        """Give control back, or to the one who asks for it.

        Raises:
            NotInControl: If somebody else has it, or nobody.
        """
        self._pass_on(self._of(key, now), now, "released")

    def end(self, now: float) -> None:
        """Take control from whoever has it; nobody may have it."""
        self.tick(now)
        held = self._held
        if held is not None:
            self._end(held, now, "forced")
        if self._chat is not None:
            self._chat = None
            self.revision += 1

    def renew(self, key: str, now: float) -> None:
        """Keep control, and say no to the one who asks for it.

        Raises:
            NotInControl: If somebody else has it, or nobody.
        """
        self._of(key, now).used = now
        self._ask(None)

    def used(self, key: str, now: float, *, keys: int = 0, clicks: int = 0) -> None:
        """Count what the person in control did; others do nothing."""
        if self._held is not None and self._held.person.key == key:
            self._held.used = now
            self._held.keys += keys
            self._held.clicks += clicks

    def joined(self, key: str) -> None:
        """Note a connection of that page or program."""
        self._present[key] = self._present.get(key, 0) + 1
        if self._held is not None and self._held.person.key == key:
            self._held.left = None

    def parted(self, key: str, now: float) -> None:
        """Note the end of a connection."""
        left = self._present.pop(key) - 1
        if left:
            self._present[key] = left
        elif self._held is not None and self._held.person.key == key:
            self._held.left = now

    def check_act(self, chat: str, now: float) -> None:
        """Let an agent act; one that names no chat holds nothing.

        Raises:
            HumanInControl: While a person is in control.
            HeldByChat: While another chat acts, and for a while after.
        """
        self.tick(now)
        if self._held is not None:
            raise HumanInControl(self._held.person.name)
        if not chat:
            return
        if self._chat is not None and self._chat != chat:
            raise HeldByChat(self._chat, self._chat_used + IDLE_CHAT - now)
        if self._chat is None:
            self._chat = chat
            self._chat_busy = 0
            self.revision += 1
        self._chat_used = now

    def acting(self, chat: str, now: float, *, begins: bool) -> None:
        """Note that an agent's action begins or ends; while one runs its chat is not idle."""
        if chat and chat == self._chat:
            self._chat_busy = max(0, self._chat_busy + (1 if begins else -1))
            self._chat_used = now

    def release_chat(self, chat: str, now: float) -> None:
        """Let other chats act at once; nothing if that chat has nothing."""
        self.tick(now)
        if chat == self._chat:
            self._chat = None
            self.revision += 1

    def check_view(self, now: float) -> None:
        """Let somebody see the screen.

        Raises:
            HumanInControl: While a person has it in private.
        """
        self.tick(now)
        if self._held is not None and self._held.private:
            raise HumanInControl(self._held.person.name)

    def deadline(self) -> float | None:
        """When something ends by itself, if nothing happens before."""
        times = [self.asking.until] if self.asking else []
        if self._held is not None:
            times.append(self._held.used + IDLE_PERSON)
            if self._held.left is not None:
                times.append(self._held.left + ABSENT_PERSON)
        if self._chat is not None and not self._chat_busy:
            times.append(self._chat_used + IDLE_CHAT)
        return min(times, default=None)

    def tick(self, now: float) -> None:
        """End what is over."""
        held = self._held
        if held is not None:
            if held.left is not None and now >= held.left + ABSENT_PERSON:
                self._pass_on(held, now, "left")
            elif now >= held.used + IDLE_PERSON:
                self._pass_on(held, now, "idle")
            elif self.asking is not None and now >= self.asking.until:
                if self.asking.insists:
                    self._pass_on(held, now, "passed on")
                else:
                    self._ask(None)
        if self._chat is not None and not self._chat_busy and now >= self._chat_used + IDLE_CHAT:
            self._chat = None
            self.revision += 1

    def _of(self, key: str, now: float) -> _Held:
        self.tick(now)
        if self._held is None or self._held.person.key != key:
            raise NotInControl(self._held.person.name if self._held else "")
        return self._held

    def _pass_on(self, held: _Held, now: float, reason: Reason) -> None:
        asking = self.asking
        self._end(held, now, reason)
        if asking is not None:
            self._give(asking.person, now, asking.private)

    def _give(self, person: Person, now: float, private: bool) -> None:
        # Who takes it without looking has nothing to leave: then only idleness ends it.
        self._held = _Held(person, now, private, now)
        self.asking = None
        self._chat = None
        self.revision += 1

    def _end(self, held: _Held, now: float, reason: Reason) -> None:
        self.last = ControlSession(
            held.person.name, held.since, now, held.keys, held.clicks, held.private, reason
        )
        self.turns += 1
        self._held = None
        self.asking = None
        self.revision += 1

    def _ask(self, asking: ControlRequest | None) -> None:
        if asking != self.asking:
            self.asking = asking
            self.revision += 1
