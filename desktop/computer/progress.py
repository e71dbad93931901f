"""How far a request for actions has come, for what records it."""

from typing import Protocol

from .outcomes import BatchOutcome, Outcome


class ActionProgress(Protocol):
    """Receives how far one request has come."""

    def began(self) -> None:
        """Record that the action may have happened from now on."""

    def ended(self, outcome: Outcome | BatchOutcome) -> None:
        """Record that the action has happened; its outcome has no observation yet."""


class NoProgress:
    """Progress of requests that carry no tool-call id."""

    def began(self) -> None:
        """Do nothing."""

    def ended(self, outcome: Outcome | BatchOutcome) -> None:
        """Do nothing."""


NO_PROGRESS = NoProgress()
