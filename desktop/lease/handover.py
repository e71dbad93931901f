"""Effects of a change of control on the desktop: privacy, input, viewers, events, recordings."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from deskhand.desktop.events.bus import DesktopEvent

from .lease import ControlSession
from .privacy import PrivacyMode

Json = dict[str, Any]


class Selections(Protocol):
    """The selections of a display, such as its clipboard, at a change of privacy. Blocking."""

    def begin(self) -> None:
        """Note them, before a person acts in private."""

    def end(self) -> None:
        """Bring them back or empty them, before the agent goes on."""


@dataclass(frozen=True)
class LeaseEffects:
    """The effects of the lease, each on the part of the service that carries it out."""

    privacy: PrivacyMode
    selections: Callable[[], Selections | None]
    """Returns the selections of the display; None if none has started."""
    release_input: Callable[[], None]
    """Releases the keys and buttons that agents hold down."""
    update_viewers: Callable[[], None]
    """Releases what viewers without control hold down, and closes them in privacy mode."""
    publish: Callable[[str, Json], object]
    record: Callable[[ControlSession], None]
    note_activity: Callable[[Literal["agent", "human"]], None]

    def privacy_changed(self, private: bool) -> None:
        """Activate or deactivate privacy mode. No event of the new state is ahead of it."""
        selections = self.selections()
        if private:
            self.privacy.set(True)
            if selections is not None:
                selections.begin()
        else:
            if selections is not None:
                selections.end()
            self.privacy.set(False)

    def lease_changed(self, state: Json) -> None:
        """Update the viewers and publish the new state."""
        self.update_viewers()
        self.publish("lease_changed", state)

    def actor_changed(self) -> None:
        """Release all keys and buttons."""
        self.release_input()

    def session_ended(self, session: ControlSession) -> None:
        """Record a person's control session."""
        self.record(session)

    def person_acted(self) -> None:
        """Note a person's input as activity of the recordings."""
        self.note_activity("human")

    def agent_acted(self) -> None:
        """Note an agent's input as activity of the recordings."""
        self.note_activity("agent")


class WindowEventLog(Protocol):
    """The part of the lease that window events concern."""

    @property
    def private(self) -> bool:
        """True while a person is in control in private."""

    def noticed(self, kind: str, data: Json) -> None:
        """Add a window event to the present control session."""


@dataclass(frozen=True)
class WindowEventPublisher:
    """Publishes events of windows, without their titles while a person is in private."""

    control: WindowEventLog
    publish: Callable[[str, Json], DesktopEvent]

    def __call__(self, kind: str, data: Json | None = None) -> DesktopEvent:
        """Publish one event. In private its title is empty: it names what the person reads."""
        published = data or {}
        # The session may receive the title: it keeps no more of a window than its class.
        self.control.noticed(kind, published)
        if self.control.private and "title" in published:
            published = {**published, "title": ""}
        return self.publish(kind, published)


def activity_summary(session: ControlSession) -> str:
    """Return the amount of a person's input as text; the input itself is never kept."""
    return f"{_counted(session.keys, 'key')} and {_counted(session.clicks, 'click')}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
