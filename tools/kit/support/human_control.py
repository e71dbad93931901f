"""Waits while a person is in control of the desktop, and tells what became of it."""

from dataclasses import dataclass
from typing import Any

from .spec import Machine, MachineRefused

Json = dict[str, Any]

LEASE = "/api/v0/desktop/lease"
EACH_WAIT = 25.0
"""Seconds that the service may take to tell of a change."""
PATIENCE = 30.0


@dataclass(frozen=True)
class HumanControlWait:
    """What is told of a person's time in control: how much was done, never what."""

    name: str
    seconds: float
    keys: int
    clicks: int
    private: bool
    windows: tuple[str, ...] = ()
    """What was opened and closed, in words."""

    def __str__(self) -> str:
        hidden = ", in private" if self.private else ""
        done = f"{_counted(self.keys, 'key')} and {_counted(self.clicks, 'click')}"
        words = f"{self.name} was in control of this desktop for {self.seconds:.0f} s{hidden}"
        return " ".join([f"{words} ({done}), and gave it back.", *self.windows])


class HumanControlWaits:
    """Tells of each turn of a person once, though an agent's turns have a tool each."""

    def __init__(self) -> None:
        self._told: HumanControlWait | None = None
        self.seconds = 0.0
        """How long the turns were that were told of."""

    async def missed(self, machine: Machine) -> HumanControlWait | None:
        """Return the newest turn that has ended since the last call, if there was one."""
        try:
            return self._newest(await machine.request("GET", LEASE))
        except MachineRefused:
            # A desktop of an earlier version, which nobody can take over.
            return None

    async def awaited(self, machine: Machine) -> HumanControlWait | None:
        """Return when no person is in control any more; ``None`` at once if none is."""
        state: Json = await machine.request("GET", LEASE)
        if not _held(state):
            return None
        while _held(state):
            query = {"revision": str(state["revision"]), "wait": f"{EACH_WAIT:g}"}
            state = await machine.request("GET", LEASE, params=query, timeout=EACH_WAIT + PATIENCE)
        return self._newest(state)

    def _newest(self, state: Json) -> HumanControlWait | None:
        last = state.get("last")
        if last is None:
            return None
        found = HumanControlWait(
            last["name"],
            last["seconds"],
            last["keys"],
            last["clicks"],
            last["private"],
            tuple(last.get("windows", ())),
        )
        # Its length in milliseconds tells a turn from all others, on whichever desktop.
        if found == self._told:
            return None
        self._told = found
        self.seconds += found.seconds
        return found


def _held(state: Json) -> bool:
    return bool(state["holder"]["kind"] == "person")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
