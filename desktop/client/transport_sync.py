"""What the parts of one remote desktop send their requests through.

For programs without an event loop. Written from ``deskhand.desktop.client.transport`` by
``scripts/make_sync_client.py``: change it there.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.desktop import results
from deskhand.desktop.errors import DesktopUnavailable
from deskhand.desktop.geometry import SpaceName
from deskhand.desktop.results import Batch, Done, Picture
from deskhand.desktop.screenshots.options import PictureFormat

from .blocking import BlockingClient

Json = dict[str, Any]

# An action takes up to 100 s, and as many as the queue holds may be before it.
_ACTION_SECONDS = 330.0


class Transport:
    """One desktop's client, its place among the routes, and the space of its points."""

    def __init__(self, root: str, space: SpaceName) -> None:
        self._root = root
        self._space = space
        self.client: BlockingClient | None = None

    @property
    def space(self) -> SpaceName:
        """Of all points, regions and pictures."""
        return self._space

    def open_client(self) -> BlockingClient:
        """Return the client.

        Raises:
            DesktopUnavailable: Outside of the desktop's ``with`` block.
        """
        if self.client is None:
            raise DesktopUnavailable("the desktop is not open: use it inside of its with block")
        return self.client

    def path(self, path: str) -> str:
        """Return where a route of the service is found."""
        return self._root + path

    def request(self, method: str, path: str, **more: Any) -> Any:
        """Send one request and return its JSON body."""
        return self.open_client().request(method, self._root + path, **more)

    def screenshot(self, kind: PictureFormat, params: Mapping[str, str]) -> Picture:
        """Take a picture."""
        wanted = {"format": kind, "coordinate_space": self._space, **params}
        path = self.path("/desktop/screenshot")
        reply = self.open_client().reply("GET", path, params=wanted)
        return results.picture_of_reply(reply.headers, reply.content, kind)

    def act(self, action: str, observe: bool | Json = False, **fields: Any) -> Done:
        """Do one action."""
        body = {"action": action, "coordinate_space": self._space, **fields}
        if observe:
            body["observe"] = observe
        path = "/desktop/action"
        return results.done(self.request("POST", path, json=body, timeout=_ACTION_SECONDS))

    def batch(self, actions: Sequence[Json], observe: bool | Json = False) -> Batch:
        """Do several actions."""
        body: Json = {"actions": [*actions], "coordinate_space": self._space}
        if observe:
            body["observe"] = observe
        path = "/desktop/actions"
        return results.batch(self.request("POST", path, json=body, timeout=_ACTION_SECONDS))
