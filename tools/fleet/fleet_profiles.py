"""The named profiles of the fleet's desktops: who has one, and their administration."""

import asyncio
from collections.abc import Callable, Iterable

from deskhand.desktop.profiles.profile_folder import StoredProfile

from .errors import LauncherRefused, ProfileTaken, UnknownProfile
from .launcher_client import LauncherClient
from .registry import RegisteredDesktop, is_alive


class FleetProfiles:
    """The profiles of one control plane; ``desktops`` returns the entries of its desktops."""

    def __init__(
        self, launcher: LauncherClient, desktops: Callable[[], Iterable[RegisteredDesktop]]
    ) -> None:
        self._launcher = launcher
        self._desktops = desktops

    def holder(self, name: str) -> RegisteredDesktop | None:
        """Return the desktop that has a profile, None if none of these has it."""
        found = (one for one in self._desktops() if one.profile == name and is_alive(one))
        return next(found, None)

    def check_free(self, name: str) -> None:
        """Check that no desktop has a profile.

        Raises:
            ProfileTaken: If one has it.
        """
        holder = self.holder(name)
        if holder is not None:
            raise ProfileTaken(name, holder.id, holder.name)

    async def all(self) -> tuple[StoredProfile, ...]:
        """Return the profiles, in the order of their names."""
        return await asyncio.to_thread(self._launcher.profiles)

    async def remove(self, name: str) -> None:
        """Remove a profile.

        Raises:
            UnknownProfile: If there is none.
            ProfileTaken: If a desktop has it.
        """
        self.check_free(name)
        try:
            removed = await asyncio.to_thread(self._launcher.remove_profile, name)
        except LauncherRefused as error:
            # The desktop that has it is still starting.
            raise ProfileTaken(name) from error
        if not removed:
            raise UnknownProfile(name)
