"""The fleet as the chats see it."""

import contextlib

from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.tools.conversation.errors import NoDesktop

from .chat_desktop import DesktopMachine
from .errors import DesktopNotStarted, UnknownDesktop
from .fleet import Fleet


class DesktopAllocator:
    """Gives chats their desktops."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    async def acquire(self, chat_id: str, *, name: str) -> str:
        """Start a desktop for that chat and return its id once it is ready.

        Raises:
            NoDesktop: With the reason.
        """
        try:
            return (await self._fleet.start(name, chat_id)).id
        except DesktopNotStarted as error:
            raise NoDesktop(str(error)) from error

    async def default(self) -> str:
        """Return the desktop of chats that have none, started at its first use.

        Raises:
            NoDesktop: With the reason.
        """
        try:
            return await self._fleet.default()
        except DesktopNotStarted as error:
            raise NoDesktop(str(error)) from error

    def machine(self, desktop_id: str, chat_id: str, ancestors: tuple[str, ...]) -> DesktopMachine:
        """Return a chat's way to a desktop; its address is looked up at each call."""
        return DesktopMachine(lambda: self._fleet.client(desktop_id), chat_id, ancestors)

    async def release(self, desktop_id: str) -> None:
        """End a desktop; one that is gone already is fine."""
        with contextlib.suppress(UnknownDesktop):
            await self._fleet.stop(desktop_id)

    async def in_use(self, desktop_id: str) -> bool:
        """Whether somebody watches a desktop or is in control of it."""
        with contextlib.suppress(DesktopRefused, DesktopUnavailable, UnknownDesktop):
            status = await self._fleet.client(desktop_id).request("GET", "/api/v0/desktop")
            holder = (status.get("lease") or {}).get("holder") or {}
            return bool(status.get("watchers")) or holder.get("kind") == "person"
        return False

    def known(self, desktop_id: str) -> bool:
        """Whether a desktop of this id runs."""
        return self._fleet.known(desktop_id)
