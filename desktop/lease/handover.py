"""What happens on a desktop when control of it changes hands."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from deskhand.desktop.events.bus import DesktopEvent

from .lease import ControlSession
from .privacy import PrivacyMode

Json = dict[str, Any]


@dataclass(frozen=True)
class LeaseEffects:
    """The effects of the lease: everything that is to be told of a change."""

    veil: PrivacyMode
    release_soon: Callable[[], None]
    """Releases what agents hold down."""
    settle: Callable[[], None]
    """Has watchers release what they hold down, and leave where it is private."""
    publish: Callable[[str, Json], object]
    record: Callable[[ControlSession], None]
    touch: Callable[[], None]

    def lease_changed(self, state: Json) -> None:
        """Tell everybody; the veil first."""
        self.veil.draw(state["private"])
        self.settle()
        self.publish("lease_changed", state)

    def hands_changed(self) -> None:
        """Let go of all keys and buttons."""
        self.release_soon()

    def turn_ended(self, turn: ControlSession) -> None:
        """Put a person's turn into what is recorded."""
        self.record(turn)

    def person_acts(self) -> None:
        """Count it as activity."""
        self.touch()


class LeaseNotices(Protocol):
    """Who is in control, as far as it matters to whoever tells of events."""

    @property
    def private(self) -> bool:
        """Whether only the one in control may see the screen."""

    def noticed(self, kind: str, data: Json) -> None:
        """Remember what happened during somebody's turn."""


@dataclass(frozen=True)
class WindowEventPublisher:
    """Publishes what happens to windows."""

    control: LeaseNotices
    publish: Callable[[str, Json], DesktopEvent]

    def __call__(self, kind: str, data: Json | None = None) -> DesktopEvent:
        """Publish; without a title, which tells what a person reads or writes, in private."""
        told = data or {}
        self.control.noticed(kind, told)
        if self.control.private and "title" in told:
            told = {**told, "title": ""}
        return self.publish(kind, told)


def activity_summary(turn: ControlSession) -> str:
    """Return in words how much a person did; never what."""
    return f"{_counted(turn.keys, 'key')} and {_counted(turn.clicks, 'click')}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
