"""Errors of the fleet.

FleetError
├── UnknownDesktop      no desktop has this id
├── DesktopNotStarted   the service exited or timed out before it was ready
├── LauncherRefused     the launcher does not carry out a request
└── LauncherEnded       the launcher has ended (also an ``OSError``)
"""


class FleetError(Exception):
    """Base class of this package's exceptions."""


class UnknownDesktop(FleetError):
    """No running desktop has this id."""

    def __init__(self, desktop_id: str) -> None:
        super().__init__(desktop_id)
        self.desktop_id = desktop_id

    def __str__(self) -> str:
        return f"there is no desktop {self.desktop_id!r}"


class DesktopNotStarted(FleetError):
    """The desktop service did not become ready."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"the desktop could not be started: {self.reason}"


class LauncherRefused(FleetError):
    """The launcher does not carry out a request, such as one about a desktop that still runs."""


class LauncherEnded(FleetError, OSError):
    """The launcher has ended: no desktop can be started or ended until the next start."""

    def __str__(self) -> str:
        return "the launcher has ended; restart the control plane"
