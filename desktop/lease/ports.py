"""What the lease of a desktop needs of the desktop, as its runtime calls it."""

from typing import Any, Protocol

from deskhand.desktop.freeze.report import StopReport

from .lease import ControlSession

Json = dict[str, Any]


class Effects(Protocol):
    """The effects of a change of the lease on the desktop."""

    def privacy_changed(self, private: bool) -> None:
        """Hide the screen from all but the person in control, or show it again."""

    def lease_changed(self, state: Json) -> None:
        """Apply and publish a new holder or a new control request."""

    def actor_changed(self) -> None:
        """Release all keys and buttons: those that another actor held down."""

    def session_ended(self, session: ControlSession) -> None:
        """Record a person's control session."""

    def person_acted(self) -> None:
        """Note input of a person who is not in private."""

    def agent_acted(self) -> None:
        """Note input of a program that acts as an agent over VNC."""


class ProcessFreezer(Protocol):
    """Stops the agent's processes. All methods block."""

    def hold(self, *, guards_keyboard: bool = True) -> None:
        """Stop the processes, and guard the keyboard for what is typed meanwhile."""

    def release(self, *, guards_keyboard: bool = True) -> StopReport:
        """Continue the processes, unless they are also stopped for another reason."""

    def report(self) -> StopReport:
        """Return what is stopped now."""

    def may_type(self) -> bool:
        """Return whether no stopped process can get keys; does not block."""
