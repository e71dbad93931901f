"""Errors of the fleet.

FleetError
├── UnknownDesktop      no desktop has this id
├── BadOrder            what is ordered from a node is no desktop of this version
├── DesktopNotStarted   the service exited or timed out before it was ready
├── ProfileTaken        another desktop has the profile
├── UnknownProfile      there is no profile of this name
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


class BadOrder(FleetError, ValueError):
    """What is ordered is no desktop of this version; the text says why."""


class DesktopNotStarted(FleetError):
    """The desktop service did not become ready."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"the desktop could not be started: {self.reason}"


class ProfileTaken(FleetError):
    """A desktop has the profile; one desktop at a time can use it."""

    def __init__(self, profile: str, desktop_id: str = "", name: str = "") -> None:
        super().__init__(profile, desktop_id, name)
        self.profile = profile
        self.desktop_id = desktop_id
        self.name = name

    def __str__(self) -> str:
        holder = f"the desktop {self.desktop_id} ({self.name})" if self.desktop_id else "a desktop"
        return f"the profile {self.profile} is in use by {holder}"


class UnknownProfile(FleetError):
    """No profile has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"there is no profile {self.name[:100]!r}"


class LauncherRefused(FleetError):
    """The launcher does not carry out a request, such as one about a desktop that still runs."""


class LauncherEnded(FleetError, OSError):
    """The launcher has ended: no desktop can be started or ended until the next start."""

    def __str__(self) -> str:
        return "the launcher has ended; restart the control plane"
