"""What happens on a desktop when control of it changes hands."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .lease import Turn
from .veil import Veil

Json = dict[str, Any]


@dataclass(frozen=True)
class Handover:
    """The effects of the lease: everything that is to be told of a change."""

    veil: Veil
    let_go: Callable[[], None]
    """Releases what agents hold down."""
    settle: Callable[[], None]
    """Has watchers release what they hold down, and leave where it is private."""
    publish: Callable[[str, Json], object]
    record: Callable[[Turn], None]
    touch: Callable[[], None]

    def lease_changed(self, state: Json) -> None:
        """Tell everybody; the veil first."""
        self.veil.draw(state["private"])
        self.settle()
        self.publish("lease_changed", state)

    def hands_changed(self) -> None:
        """Let go of all keys and buttons."""
        self.let_go()

    def turn_ended(self, turn: Turn) -> None:
        """Put a person's turn into what is recorded."""
        self.record(turn)

    def person_acts(self) -> None:
        """Count it as activity."""
        self.touch()


def deeds(turn: Turn) -> str:
    """Return in words how much a person did; never what."""
    return f"{_counted(turn.keys, 'key')} and {_counted(turn.clicks, 'click')}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
