"""The lease of one desktop at run time: it adds the clock, a timer, effects and waiters.

`lease` decides; this module applies. Every call that may change the lease runs in `_change`,
which ends in `_settle`: it compares the lease with what was applied last, calls the effects of
the differences in the order privacy, session, input, state, and sets the timer for
`LeaseRules.deadline`. Processes are stopped before the new state is published: no key of the person
is passed on earlier, since that needs the event loop too.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.errors import HeldByChat, HumanInControl
from deskhand.desktop.freeze.freezer import NoFreezer
from deskhand.desktop.freeze.report import StopReport

from .lease import ControlSession, LeaseRules, Person
from .ports import Effects, ProcessFreezer

Json = dict[str, Any]

MOST_WINDOWS = 50
"""The newest window events of a session that are kept; a program may open windows for hours."""

_WINDOWS = {"window_opened": "Opened", "window_closed": "Closed"}


@dataclass(frozen=True)
class _Applied:
    revision: int
    private: bool
    paused: bool
    holder: tuple[Person | None, str | None]
    session: ControlSession | None


class LeaseRuntime:
    """A lease with a clock. Call it on the event loop, inside `running`."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        freezer: ProcessFreezer | None = None,
    ) -> None:
        """``freezer`` stops processes while a person is in private, and in a pause."""
        self.lease = LeaseRules()
        self._paused_until = 0.0
        self._freezer = freezer or NoFreezer()
        self._session_stop = StopReport()
        self._last_stop = StopReport()
        self._clock = clock
        self._effects: Effects | None = None
        self._changed = asyncio.Condition()
        self._timer: asyncio.TimerHandle | None = None
        # The event loop itself keeps weak references to tasks only (`asyncio.create_task`).
        self._notifying: set[asyncio.Task[None]] = set()
        self._applied = self._present()
        self._actor: Person | str | None = None
        self._windows: deque[str] = deque(maxlen=MOST_WINDOWS)
        self._last_windows: tuple[str, ...] = ()

    @contextmanager
    def running(self, effects: Effects) -> Iterator[None]:
        """Apply changes while the body runs."""
        self._effects = effects
        try:
            yield
        finally:
            self._effects = None
            if self._timer is not None:
                self._timer.cancel()
            # The processes are ended by SIGTERM soon, which a stopped one does not get.
            if self._applied.private:
                self._freezer.release()
            if self._applied.paused:
                self._freezer.release(guards_keyboard=False)

    @property
    def private(self) -> bool:
        """True while only the person in control may see the screen. Any thread may read it."""
        return self.lease.private

    @property
    def paused(self) -> bool:
        """True in a pause, in which the processes are stopped unless a person is in control."""
        return self._paused_until > self._clock()

    def pause(self, seconds: float) -> None:
        """Stop the processes for so long, and no longer than until an agent acts; 0 ends a pause.

        They continue while a person is in control, unless in private.
        """
        with self._change() as now:
            self._paused_until = now + seconds if seconds > 0 else 0.0

    def end_pause(self) -> None:
        """Continue the processes, because an agent acts or starts one."""
        if self._paused_until:
            self.pause(0.0)

    @property
    def revision(self) -> int:
        """A number that grows with every change."""
        return self.lease.revision

    @property
    def person(self) -> Person | None:
        """The person in control."""
        return self.lease.person

    def take(
        self, person: Person, *, private: bool, take_over_on_timeout: bool, force: bool
    ) -> bool:
        """Give control to a person, or request it; return whether it was given."""
        with self._change() as now:
            return self.lease.take(
                *(person, now),
                private=private,
                take_over_on_timeout=take_over_on_timeout,
                force=force,
            )

    def release(self, key: str) -> None:
        """End control. Raises ``NotInControl``."""
        with self._change() as now:
            self.lease.release(key, now)

    def renew(self, key: str) -> None:
        """Keep control, and refuse a pending request. Raises ``NotInControl``."""
        with self._change() as now:
            self.lease.renew(key, now)

    def end(self) -> None:
        """End the control of any person or chat."""
        with self._change() as now:
            self.lease.end(now)

    def release_chat(self, chat: str) -> None:
        """End the control of that chat."""
        with self._change() as now:
            self.lease.release_chat(chat, now)

    def check_act(self, chat: str) -> None:
        """Check that an agent may act. Raises ``HumanInControl`` and ``HeldByChat``."""
        with self._change() as now:
            self.lease.check_act(chat, now)
            self._paused_until = 0.0

    @contextmanager
    def acting(self, chat: str) -> Iterator[None]:
        """Hold the right to act in the body. Raises ``HumanInControl`` and ``HeldByChat``."""
        # A refusal must come before the action is counted, or the count would never fall again.
        self.check_act(chat)
        self.lease.acting(chat, self._clock(), begins=True)
        try:
            yield
        finally:
            with self._change() as now:
                self.lease.acting(chat, now, begins=False)

    def check_view(self) -> None:
        """Check that agents may see the screen. Raises ``HumanInControl``."""
        # A limit that passes in this call is applied by the timer, which is due at the same moment.
        self.lease.check_view(self._clock())

    def holds_control(self, key: str) -> bool:
        """Return whether that page or program is in control."""
        return self.lease.holds_control(key)

    def may_see(self, key: str) -> bool:
        """Return whether that page or program may see the screen now."""
        return not self.lease.private or self.lease.holds_control(key)

    def may_type(self) -> bool:
        """Return whether keys of the person in control may be passed on now."""
        return not self.lease.private or self._freezer.may_type()

    def begins(self, key: str, name: str) -> bool:
        """Give control that no person has to a program that acts; return whether it has it now."""
        with self._change() as now:
            # Input takes control from a chat at once; from another person it must be requested.
            if self.lease.person is None:
                return self.lease.take(Person(name, key), now)
        return self.lease.holds_control(key)

    def used(self, key: str, *, keys: int, clicks: int) -> None:
        """Count input of the person in control."""
        self.lease.used(key, self._clock(), keys=keys, clicks=clicks)
        # In private the recording shows a placeholder, so input there is no activity.
        if self._effects is not None and not self.lease.private:
            self._effects.person_acted()

    def agent_acts(self, key: str) -> bool:
        """Give a program control like a chat of that id; return whether it may act now."""
        try:
            self.check_act(key)
        except (HumanInControl, HeldByChat):
            return False
        if self._effects is not None:
            self._effects.agent_acted()
        return True

    def agent_holds(self, key: str) -> bool:
        """Return whether that program is in control like a chat."""
        return self.lease.chat == key

    def agent_parted(self, key: str) -> None:
        """End the control of that program."""
        self.release_chat(key)

    def joined(self, key: str) -> None:
        """Count a new connection of a page or program."""
        with self._change():
            self.lease.joined(key)

    def parted(self, key: str) -> None:
        """Count the end of a connection."""
        with self._change() as now:
            self.lease.parted(key, now)

    def noticed(self, kind: str, data: Json) -> None:
        """Add a window event to a person's control session. Any thread may call."""
        # The window watcher calls this from its thread; `deque.append` is atomic.
        if kind in _WINDOWS and self.lease.person is not None:
            self._windows.append(f"{_WINDOWS[kind]} {data.get('class') or 'a window'}.")

    async def changed(self, revision: int, seconds: float) -> None:
        """Wait until the revision differs from ``revision``, for at most ``seconds``."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds), self._changed:
                await self._changed.wait_for(lambda: self.lease.revision != revision)

    def state(self) -> Json:
        """Return the lease as clients and events read it."""
        lease, now = self.lease, self._clock()
        stop = self._freezer.report() if lease.private else None
        return {
            "revision": lease.revision,
            "turns": lease.sessions,
            "holder": self._holder(now),
            "private": lease.private,
            "stopped": None
            if stop is None
            else {
                "count": stop.count,
                "not_stopped": list(stop.running),
                "keys_pass": self._freezer.may_type(),
            },
            "asked": None
            if lease.request is None
            else {
                "name": lease.request.person.name,
                "left_s": round(max(0.0, lease.request.until - now), 3),
            },
            "last": None
            if lease.last is None
            else {
                **_session_json(lease.last, now),
                "windows": list(self._last_windows),
                "stopped": {
                    "count": self._last_stop.count,
                    "seconds": round(self._last_stop.seconds, 3),
                },
            },
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
        # A call that raises may still have changed the lease: it calls `tick` before its check.
        try:
            yield self._clock()
        finally:
            self._settle()

    def _settle(self) -> None:
        """Apply what changed, and set the timer for the next change that needs no call."""
        self.lease.tick(self._clock())
        before, self._applied = self._applied, self._present()
        if self._effects is None:
            return
        if before.private != self._applied.private:
            self._effects.privacy_changed(self._applied.private)
        self._freeze(before, self._applied)
        if before.session is not self._applied.session and self._applied.session is not None:
            self._last_stop = self._stop_of(self._applied.session)
            self._last_windows = tuple(self._windows)
            self._windows.clear()
            self._effects.session_ended(self._applied.session)
        if self._actor_changed(before.holder[0]):
            self._effects.actor_changed()
        if before.revision != self._applied.revision:
            # Input is released before the new state is published: a client that reads that it has
            # control may act at once.
            self._effects.lease_changed(self.state())
            self._wake_waiters()
        self._set_timer()

    def _freeze(self, before: _Applied, now: _Applied) -> None:
        # First what begins: nothing continues between a pause and privacy.
        if now.private and not before.private:
            self._freezer.hold()
        if now.paused and not before.paused:
            # Nobody types: a menu that has the keyboard stays as it is.
            self._freezer.hold(guards_keyboard=False)
        if before.private and not now.private:
            self._session_stop = self._session_stop.followed_by(self._freezer.release())
        if before.paused and not now.paused:
            self._freezer.release(guards_keyboard=False)

    def _stop_of(self, session: ControlSession) -> StopReport:
        """Return what was stopped in a session that has ended, and begin with the next one."""
        # Control may pass from one person in private to the next, and nothing continues between.
        stop = self._session_stop
        if self._applied.private:
            stop = stop.followed_by(self._freezer.report())
        self._session_stop = StopReport()
        return stop.within(session.seconds)

    def _actor_changed(self, person_before: Person | None) -> bool:
        """Return whether another actor has control than the last one that had it.

        A chat whose lease expired between two of its actions is the same actor.
        """
        person, chat = self._applied.holder
        now = person or chat
        changed = (now is not None and now != self._actor) or (
            person_before is not None and person is None
        )
        if changed:
            self._actor = now
        return changed

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        known = self.lease.deadline(), self._paused_until if self.paused else None
        deadline = min((one for one in known if one is not None), default=None)
        if deadline is not None:
            delay = max(0.0, deadline - self._clock())
            self._timer = asyncio.get_running_loop().call_later(delay, self._settle)

    def _wake_waiters(self) -> None:
        # A condition is notified with its lock held, which only a coroutine can acquire.
        task = asyncio.create_task(self._notify(), name="lease")
        self._notifying.add(task)
        task.add_done_callback(self._notifying.discard)

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    def _present(self) -> _Applied:
        lease = self.lease
        paused, holder = self.paused and lease.person is None, (lease.person, lease.chat)
        return _Applied(lease.revision, lease.private, paused, holder, lease.last)


def _session_json(session: ControlSession, now: float) -> Json:
    return {
        "name": session.name,
        "seconds": round(session.seconds, 3),
        "ended_s_ago": round(now - session.ended, 3),
        "keys": session.keys,
        "clicks": session.clicks,
        "private": session.private,
        "reason": session.reason,
    }
