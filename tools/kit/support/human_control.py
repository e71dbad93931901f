"""Waiting while a person is in control of the desktop, and the report on their session.

The desktop service publishes its lease: the current holder, a revision, and the last session of a
person that has ended. That session stays published until the next one has ended, so that the second
of two calls finds a session between them. `HumanControlWaits` remembers the session that it has
reported.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
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
        self._reported: HumanControlWait | None = None
        self.seconds = 0.0
        """Total duration of the reported sessions."""

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
        # The duration in milliseconds distinguishes a session from all others, on any desktop.
        if found is None or found == self._reported:
            return None
        self._reported = found
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
