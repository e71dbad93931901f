"""The named profiles of browsers on nodes; each profile is on one of them."""

import asyncio
import logging
from collections.abc import Callable, Mapping

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.desktop.profiles.profile_folder import StoredProfile
from deskhand.tools.fleet.errors import ProfileTaken, UnknownProfile

from .gates import GateAddress, GateClients
from .placed import NodeDesktop, Placed

log = logging.getLogger(__name__)
PROFILES = "/profiles"


class ClusterProfiles:
    """The profiles of all nodes that can be reached; ``placed`` returns what rows show."""

    def __init__(self, clients: GateClients, placed: Callable[[], Placed]) -> None:
        self._clients = clients
        self._placed = placed

    def holder(self, name: str) -> NodeDesktop | None:
        """Return the desktop that has a profile, None if none has it."""
        return self._placed().holder(name)

    def check_free(self, name: str, chat_id: str | None = None) -> None:
        """Check that no desktop has a profile, but for one that is of the chat already.

        Raises:
            ProfileTaken: If one has it.
        """
        holder = self.holder(name)
        if holder is not None and (chat_id is None or holder.chat_id != chat_id):
            raise ProfileTaken(name, holder.id, holder.name)

    async def all(self) -> tuple[StoredProfile, ...]:
        """Return the profiles, in the order of their names."""
        found = [one for profiles in (await self._by_node()).values() for one in profiles]
        return tuple(sorted(found, key=lambda one: one.name))

    async def remove(self, name: str) -> None:
        """Remove a profile.

        Raises:
            UnknownProfile: If no node that can be reached has it.
            ProfileTaken: If a desktop has it.
        """
        self.check_free(name)
        for gate, profiles in (await self._by_node()).items():
            if any(one.name == name for one in profiles):
                try:
                    await self._clients.gate(gate).request("DELETE", f"{PROFILES}/{name}")
                except DesktopRefused as error:
                    raise ProfileTaken(name) from error
                return
        raise UnknownProfile(name)

    async def _by_node(self) -> Mapping[GateAddress, tuple[StoredProfile, ...]]:
        gates = [node.gate for node in self._placed().nodes.values() if node.is_up]
        found = await asyncio.gather(*[_profiles(self._clients.gate(gate)) for gate in gates])
        return dict(zip(gates, found, strict=True))


async def _profiles(client: DesktopClient) -> tuple[StoredProfile, ...]:
    try:
        answer = await client.request("GET", PROFILES)
        return tuple([StoredProfile(**one) for one in answer["profiles"]])
    except (DesktopRefused, DesktopUnavailable) as error:
        log.warning("the profiles of a node cannot be read: %s", error)
        return ()
