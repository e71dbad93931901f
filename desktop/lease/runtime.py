"""The lease of one desktop in time: it ends when it must, and whoever waits is told."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol

from .lease import ControlSession, LeaseRules, Person

Json = dict[str, Any]

MOST_WINDOWS = 50
"""The newest of a turn that are told; a program may open one after the other for hours."""

_WINDOWS = {"window_opened": "Opened", "window_closed": "Closed"}


class Effects(Protocol):
    """What a change of the lease does to the desktop."""

    def lease_changed(self, state: Json) -> None:
        """Somebody else may act, or asks to: tell everybody."""

    def hands_changed(self) -> None:
        """Whoever acted does no longer: let go of all keys and buttons."""

    def turn_ended(self, turn: ControlSession) -> None:
        """A person's turn is over."""

    def person_acts(self) -> None:
        """A person types or clicks just now, and not in private."""


@dataclass(frozen=True)
class _Seen:
    revision: int
    holder: tuple[Person | None, str | None]
    turn: ControlSession | None


class LeaseRuntime:
    """A lease with a clock. Call it on the event loop, inside `running`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.lease = LeaseRules()
        self._clock = clock
        self._effects: Effects | None = None
        self._changed = asyncio.Condition()
        self._timer: asyncio.TimerHandle | None = None
        self._waking: set[asyncio.Task[None]] = set()
        self._seen = self._now_seen()
        self._actor: Person | str | None = None
        self._windows: deque[str] = deque(maxlen=MOST_WINDOWS)
        self._last_windows: tuple[str, ...] = ()

    @contextmanager
    def running(self, effects: Effects) -> Iterator[None]:
        """Have changes take effect while the body runs."""
        self._effects = effects
        try:
            yield
        finally:
            self._effects = None
            if self._timer is not None:
                self._timer.cancel()

    @property
    def private(self) -> bool:
        """Whether only the one in control may see the screen. Any thread may ask."""
        return self.lease.private

    @property
    def revision(self) -> int:
        """Grows with every change."""
        return self.lease.revision

    def take(self, person: Person, *, private: bool, insists: bool, force: bool) -> bool:
        """Give control, or ask for it; return whether it was given."""
        with self._change() as now:
            return self.lease.take(person, now, private=private, insists=insists, force=force)

    def release(self, key: str) -> None:
        """Give control back. Raises ``NotInControl``."""
        with self._change() as now:
            self.lease.release(key, now)

    def renew(self, key: str) -> None:
        """Keep control. Raises ``NotInControl``."""
        with self._change() as now:
            self.lease.renew(key, now)

    def end(self) -> None:
        """Take control from whoever has it."""
        with self._change() as now:
            self.lease.end(now)

    def release_chat(self, chat: str) -> None:
        """Let other chats act."""
        with self._change() as now:
            self.lease.release_chat(chat, now)

    def check_act(self, chat: str) -> None:
        """Let an agent act. Raises ``HumanInControl`` and ``HeldByChat``."""
        with self._change() as now:
            self.lease.check_act(chat, now)

    @contextmanager
    def acting(self, chat: str) -> Iterator[None]:
        """Let an agent act while the body runs. Raises ``HumanInControl`` and ``HeldByChat``."""
        self.check_act(chat)
        self.lease.acting(chat, self._clock(), begins=True)
        try:
            yield
        finally:
            with self._change() as now:
                self.lease.acting(chat, now, begins=False)

    def check_view(self) -> None:
        """Let somebody see the screen. Raises ``HumanInControl``."""
        self.lease.check_view(self._clock())

    def holds_control(self, key: str) -> bool:
        """Whether that page or program is in control."""
        return self.lease.holds_control(key)

    def may_see(self, key: str) -> bool:
        """Whether that page or program may see the screen now."""
        return not self.lease.private or self.lease.holds_control(key)

    def begins(self, key: str, name: str) -> bool:
        """Let a program take what nobody has by acting; return whether it is in control now."""
        with self._change() as now:
            if self.lease.person is None:
                return self.lease.take(Person(name, key), now)
        return self.lease.holds_control(key)

    def used(self, key: str, *, keys: int, clicks: int) -> None:
        """Count what the one in control did."""
        self.lease.used(key, self._clock(), keys=keys, clicks=clicks)
        if self._effects is not None and not self.lease.private:
            self._effects.person_acts()

    def joined(self, key: str) -> None:
        """Note a connection."""
        with self._change():
            self.lease.joined(key)

    def parted(self, key: str) -> None:
        """Note its end."""
        with self._change() as now:
            self.lease.parted(key, now)

    def noticed(self, kind: str, data: Json) -> None:
        """Note windows that come and go while a person is in control. Any thread may call."""
        if kind in _WINDOWS and self.lease.person is not None:
            self._windows.append(f"{_WINDOWS[kind]} {data.get('class') or 'a window'}.")

    async def changed(self, revision: int, seconds: float) -> None:
        """Return when the revision is another one, or after so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds), self._changed:
                await self._changed.wait_for(lambda: self.lease.revision != revision)

    def state(self) -> Json:
        """The lease as it is told."""
        lease, now = self.lease, self._clock()
        return {
            "revision": lease.revision,
            "turns": lease.turns,
            "holder": self._holder(now),
            "private": lease.private,
            "asked": None
            if lease.asking is None
            else {
                "name": lease.asking.person.name,
                "left_s": round(max(0.0, lease.asking.until - now), 3),
            },
            "last": None
            if lease.last is None
            else {**_turn(lease.last, now), "windows": list(self._last_windows)},
        }

    def _holder(self, now: float) -> Json:
        lease = self.lease
        if lease.person is not None:
            return {
                "kind": "person",
                "name": lease.person.name,
                "since_s": round(now - lease.since, 3),
            }
        if lease.chat is not None:
            return {"kind": "chat", "chat_id": lease.chat}
        return {"kind": "nobody"}

    @contextmanager
    def _change(self) -> Iterator[float]:
        try:
            yield self._clock()
        finally:
            self._settle()

    def _settle(self) -> None:
        """Let what changed take effect, and be here again when something ends by itself."""
        self.lease.tick(self._clock())
        before, self._seen = self._seen, self._now_seen()
        if self._effects is None:
            return
        if before.turn is not self._seen.turn and self._seen.turn is not None:
            self._last_windows = tuple(self._windows)
            self._windows.clear()
            self._effects.turn_ended(self._seen.turn)
        if self._hands_changed(before.holder[0]):
            self._effects.hands_changed()
        if before.revision != self._seen.revision:
            self._effects.lease_changed(self.state())
            self._wake()
        self._wait()

    def _hands_changed(self, person_before: Person | None) -> bool:
        """Whether others act now; a chat that thinks for long is the same when it goes on."""
        person, chat = self._seen.holder
        now = person or chat
        changed = (now is not None and now != self._actor) or (
            person_before is not None and person is None
        )
        if changed:
            self._actor = now
        return changed

    def _wait(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        deadline = self.lease.deadline()
        if deadline is not None:
            left = max(0.0, deadline - self._clock())
            self._timer = asyncio.get_running_loop().call_later(left, self._settle)

    def _wake(self) -> None:
        task = asyncio.create_task(self._tell(), name="lease")
        self._waking.add(task)
        task.add_done_callback(self._waking.discard)

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    def _now_seen(self) -> _Seen:
        lease = self.lease
        return _Seen(lease.revision, (lease.person, lease.chat), lease.last)


def _turn(turn: ControlSession, now: float) -> Json:
    return {
        "name": turn.name,
        "seconds": round(turn.seconds, 3),
        "ended_s_ago": round(now - turn.ended, 3),
        "keys": turn.keys,
        "clicks": turn.clicks,
        "private": turn.private,
        "reason": turn.reason,
    }
