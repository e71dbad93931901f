"""The launch port: the start of one desktop, whatever starts its process."""

from dataclasses import dataclass
from typing import Protocol

from deskhand.desktop.network.egress import Egress

LISTENING = 3
"""Number of the listening socket in the processes of a desktop that is forked."""

ONE_THREAD = "OPENBLAS_NUM_THREADS"
"""Variable that is ``1`` in the environment of a fork server: without it, numpy starts a thread for
each processor when it is loaded."""


@dataclass(frozen=True)
class LaunchSpec:
    """Settings of one desktop; all others are configured where it is started."""

    desktop_id: str
    egress: Egress
    has_display: bool = True
    workdir: str = ""
    """Name of a working directory that desktops share; empty for one of its own."""
    speak: tuple[str, ...] = ()
    """Dialects that are on."""
    options: tuple[str, ...] = ()
    """Options of its template, each followed by its value."""
    profile: str = ""
    """Name of the profile of its browser; empty for one that ends with the desktop."""


@dataclass(frozen=True)
class LaunchDescriptors:
    """Open files for the desktop; the caller closes its own after the launch."""

    listening: int
    token: int
    """Standard input, from which the service reads its token to the end."""
    ready: int
    """Standard output, to which it writes its ready message."""
    log: int


@dataclass(frozen=True)
class LaunchedDesktop:
    """A keeper that was started."""

    pid: int
    """On the host."""
    exit: int
    """A pidfd, readable when the keeper has ended; the receiver closes it."""


class DesktopLaunch(Protocol):
    """Starts desktops; the method blocks until the process exists, not until it is ready."""

    def launch(self, spec: LaunchSpec, descriptors: LaunchDescriptors) -> LaunchedDesktop:
        """Start a desktop.

        Raises:
            OSError: If it cannot be started.
        """
