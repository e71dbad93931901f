"""Waiting while a person is in control of the desktop, and the report on their session.

The desktop service publishes its lease: the current holder, a revision, and the last session of a
person that has ended. That session stays published until the next one has ended, so that the second
of two calls finds a session between them. `HumanControlWaits` remembers the session that it has
reported, by its mark, which the chat's row has too: another control plane that continues the turn
does not report the session again. The mark is stored with the result that has the report. Where a
crash loses the result, it loses the mark too, and the next call reports the session.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import asdict, dataclass
from typing import Any

from .spec import Machine, MachineRefused

Json = dict[str, Any]

LEASE = "/api/v0/desktop/lease"
EACH_WAIT = 25.0
"""Seconds that one request waits for a change of the lease (long polling)."""
PATIENCE = 30.0


@dataclass(frozen=True)
class HumanControlWait:
    """Report on a person's session in control: the amount of input, never its content."""

    name: str
    seconds: float
    keys: int
    clicks: int
    private: bool
    windows: tuple[str, ...] = ()
    """Sentences about the windows that were opened and closed."""
    stopped: int = 0
    """Programs of the agent that were stopped meanwhile."""
    stopped_seconds: float = 0.0

    @property
    def mark(self) -> str:
        """Digest that distinguishes the session from all others, on any desktop.

        Durations in milliseconds seldom are equal. Titles of windows cannot be read from it.
        """
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()

    def __str__(self) -> str:
        private = ", in private" if self.private else ""
        done = f"{_counted(self.keys, 'key')} and {_counted(self.clicks, 'click')}"
        text = f"{self.name} was in control of this desktop for {self.seconds:.0f} s{private}"
        stopped = (
            [
                f"Your programs ({self.stopped}) were stopped for "
                f"{self.stopped_seconds:.0f} s, and continue now."
            ]
            if self.stopped
            else []
        )
        return " ".join([f"{text} ({done}), and gave it back.", *stopped, *self.windows])


class HumanControlWaits:
    """Reports each control session once. It outlives the tools, of which each turn has its own."""

    def __init__(
        self, waiting: Callable[[], AbstractAsyncContextManager[None]] = nullcontext
    ) -> None:
        """Enter ``waiting()`` while a call waits for a person."""
        self._waiting = waiting
        self._stored: str | None = None
        self._counted: str | None = None
        self.reported: str | None = None
        """Mark of the newest session that a result reports."""
        self.seconds = 0.0
        """Total duration of the sessions that were reported here; a tool counts from its start."""

    def restore(self, stored: str | None) -> None:
        """Take over the mark of the chat's row, which another process may have written."""
        self.reported = self._stored = stored

    def unstored(self) -> str | None:
        """Return the mark to store now; None if the row has the newest one."""
        if self.reported == self._stored:
            return None
        self._stored = self.reported
        return self.reported

    def take_back(self) -> None:
        """Forget the marks that were not stored: the results that had the reports are lost."""
        self.reported = self._stored

    async def missed(self, machine: Machine) -> tuple[HumanControlWait | None, bool]:
        """Return the newest unreported session that has ended, and whether one goes on."""
        try:
            state: Json = await machine.request("GET", LEASE)
        except MachineRefused:
            # A desktop service of an earlier version has no lease: people cannot take control.
            return None, False
        return self._newest(state), _held(state)

    async def awaited(self, machine: Machine) -> HumanControlWait | None:
        """Wait until no person is in control; return the newest unreported session.

        The session may have ended before this call. ``None`` means that there was none.
        """
        return self._newest(await self._released(machine))

    async def ended(self, machine: Machine) -> HumanControlWait | None:
        """Wait until no person is in control; return the last session, reported or not.

        The session stays unreported: a computer tool must compare the screen after it.
        """
        return _last(await self._released(machine))

    async def _released(self, machine: Machine) -> Json:
        state: Json = await machine.request("GET", LEASE)
        if not _held(state):
            return state
        async with self._waiting():
            # Each request waits in the service for a newer revision. Cancelling ends the loop.
            while _held(state):
                query = {"revision": str(state["revision"]), "wait": f"{EACH_WAIT:g}"}
                timeout = EACH_WAIT + PATIENCE
                state = await machine.request("GET", LEASE, params=query, timeout=timeout)
        return state

    def _newest(self, state: Json) -> HumanControlWait | None:
        found = _last(state)
        if found is None or found.mark == self.reported:
            return None
        self.reported = found.mark
        # A report that was taken back is made twice, of one duration.
        if self.reported != self._counted:
            self._counted = self.reported
            self.seconds += found.seconds
        return found


async def report_after(
    wait: Callable[[Machine], Awaitable[HumanControlWait | None]], machine: Machine
) -> str:
    """Wait for the end of a person's session; return the report on it, empty without one."""
    return str(await wait(machine) or "")


def _last(state: Json) -> HumanControlWait | None:
    last = state.get("last")
    if last is None:
        return None
    return HumanControlWait(
        last["name"],
        last["seconds"],
        last["keys"],
        last["clicks"],
        last["private"],
        tuple(last.get("windows", ())),
        **_stopped(last.get("stopped") or {}),
    )


def _stopped(report: Json) -> Json:
    """Return the fields about stopped programs; a desktop of an earlier version reports none."""
    return {
        "stopped": report.get("count", 0),
        "stopped_seconds": report.get("seconds", 0.0),
    }


def _held(state: Json) -> bool:
    return bool(state["holder"]["kind"] == "person")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
