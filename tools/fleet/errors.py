"""Everything that keeping desktops raises on purpose.

FleetError
├── UnknownDesktop      no desktop has this id
└── DesktopNotStarted   the service ended, or stayed silent, before it was ready
"""


class FleetError(Exception):
    """Base class of this package's exceptions."""


class UnknownDesktop(FleetError):
    """No desktop has this id, or it has ended."""

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
