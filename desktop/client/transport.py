"""Requests of the parts of one remote desktop, with their route prefix and coordinate space."""

from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.desktop import results
from deskhand.desktop.errors import DesktopUnavailable
from deskhand.desktop.geometry import SpaceName
from deskhand.desktop.results import Batch, Done, Picture
from deskhand.desktop.screenshots.options import PictureFormat

from .http import DesktopClient

Json = dict[str, Any]

# An action takes up to 100 s, and a full queue of actions may run before it.
_ACTION_SECONDS = 330.0


class Transport:
    """HTTP client, route prefix and coordinate space of one desktop."""

    def __init__(self, root: str, space: SpaceName) -> None:
        self._root = root
        self._space = space
        # The parts of a desktop share this object from before it is opened, so the client is set
        # later.
        self.client: DesktopClient | None = None
        self._bound: tuple[DesktopClient, str] | None = None

    @property
    def space(self) -> SpaceName:
        """Coordinate space of all points, regions and pictures."""
        return self._space

    def open_client(self) -> DesktopClient:
        """Return the client.

        Raises:
            DesktopUnavailable: Outside of the desktop's ``with`` block.
        """
        if self.client is None:
            raise DesktopUnavailable("the desktop is not open: use it inside of its with block")
        return self.client

    def path(self, path: str) -> str:
        """Return the full path of a route of the service."""
        return self._root + path

    async def request(self, method: str, path: str, **more: Any) -> Any:
        """Send one request and return its JSON body."""
        return await self.open_client().request(method, self._root + path, **more)

    async def instance_headers(self) -> dict[str, str]:
        """Return the header with the instance that this client was first connected to.

        After its service was replaced, another instance refuses the requests that carry it.
        """
        client = self.open_client()
        if self._bound is None or self._bound[0] is not client:
            status = await self.request("GET", "/desktop")
            self._bound = client, str(status.get("instance_id", ""))
        instance = self._bound[1]
        return {"Deskhand-Instance": instance} if instance else {}

    async def screenshot(self, kind: PictureFormat, params: Mapping[str, str]) -> Picture:
        """Take a screenshot."""
        query = {"format": kind, "coordinate_space": self._space, **params}
        path = self.path("/desktop/screenshot")
        # Size and frame id are in headers, which `request` does not return.
        reply = await self.open_client().reply("GET", path, params=query)
        return results.picture_of_reply(reply.headers, reply.content, kind)

    async def act(self, action: str, observe: bool | Json = False, **fields: Any) -> Done:
        """Perform one action."""
        body = {"action": action, "coordinate_space": self._space, **fields}
        if observe:
            body["observe"] = observe
        return results.done(await self._execute("/desktop/action", body))

    async def batch(self, actions: Sequence[Json], observe: bool | Json = False) -> Batch:
        """Perform several actions."""
        body: Json = {"actions": [*actions], "coordinate_space": self._space}
        if observe:
            body["observe"] = observe
        return results.batch(await self._execute("/desktop/actions", body))

    async def _execute(self, path: str, body: Json) -> Any:
        headers = await self.instance_headers()
        return await self.request("POST", path, json=body, headers=headers, timeout=_ACTION_SECONDS)
