"""What dead desktops left in their folders, behind the port ``DesktopRemains``.

A desktop is dead when its keeper has ended and its lock is free: a service whose keeper was killed
still closes its recordings. The launcher, which can read the folders, decides that. The entry of a
dead desktop stays in the registry until its last recording is removed.
"""

import asyncio
import errno

from deskhand.tools.recovery.ports import LeftRecording, Remains

from .errors import LauncherRefused
from .launcher_client import LauncherClient
from .registry import DesktopRegistry
from .sockets import SocketFolder

RELEASE_SECONDS = 0.2
"""Interval of asking for the lock of a desktop whose keeper was killed."""


class FleetRemains:
    """The remains of the desktops of one control plane."""

    def __init__(
        self, entries: DesktopRegistry, sockets: SocketFolder, launcher: LauncherClient
    ) -> None:
        self._entries = entries
        self._sockets = sockets
        self._launcher = launcher

    def list(self) -> Remains:
        """Return what all dead desktops have left; see ``DesktopRemains``."""
        launched = self._launcher.list()
        recordings = tuple(
            LeftRecording(desktop_id, recording_id, tuple(files))
            for desktop_id, one in launched.items()
            for recording_id, files in one.recordings.items()
        )
        return Remains(
            recordings, frozenset(i for i, one in launched.items() if one.state == "ends")
        )

    def open(self, left: LeftRecording, name: str) -> int:
        """Return a read-only descriptor of a file; see ``DesktopRemains``.

        Raises:
            OSError: If it is missing, or is not an ordinary file with one name.
        """
        try:
            return self._launcher.open(left.desktop_id, left.recording_id, name)
        except (LauncherRefused, ProcessLookupError) as error:
            raise FileNotFoundError(f"{left.desktop_id}: no file {name}: {error}") from error

    def remove(self, left: LeftRecording) -> None:
        """Remove a recording, and with the last one the desktop; see ``DesktopRemains``.

        Raises:
            OSError: If the desktop is not dead, or its lock is taken: a desktop that starts takes
                those of all dead ones for a moment, to remove what they left.
        """
        try:
            self._remove(left.desktop_id, left.recording_id)
        except LauncherRefused as error:
            raise BlockingIOError(errno.EAGAIN, f"{error}") from error

    def remove_vacant(self, desktop_id: str) -> bool:
        """Remove folder and entry of a dead desktop without recordings; return whether it was."""
        try:
            return self._remove(desktop_id, "")
        except LauncherRefused:
            return False

    def _remove(self, desktop_id: str, recording_id: str) -> bool:
        try:
            removed = self._launcher.remove(desktop_id, recording_id)
        except ProcessLookupError:
            # The launcher knows no such desktop any more: a command before this one removed it.
            removed = True
        if removed:
            self._entries.remove(desktop_id)
            self._sockets.remove(desktop_id)
        return removed

    async def released(self, desktop_id: str) -> None:
        """Return when the service of a dead keeper has ended."""
        # The lock's file is out of reach, and flock(2) has no event for other processes.
        while await asyncio.to_thread(self._ends, desktop_id):  # noqa: ASYNC110
            await asyncio.sleep(RELEASE_SECONDS)

    def _ends(self, desktop_id: str) -> bool:
        found = self._launcher.list().get(desktop_id)
        return found is not None and found.state == "ends"
