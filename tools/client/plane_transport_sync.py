"""Requests to one control plane, of all parts of its client.

For programs without an event loop. Written from ``deskhand.tools.client.plane_transport`` by
``scripts/make_sync_client.py``: change it there.
"""

from typing import Any

from deskhand.desktop.client.blocking import BlockingClient

from .errors import NoControlPlane


class PlaneTransport:
    """HTTP client of one control plane."""

    def __init__(self) -> None:
        # The parts of a client share this object from before it is opened, so the HTTP client is
        # set later.
        self.client: BlockingClient | None = None
        self.address, self.token = "", ""

    def open_client(self) -> BlockingClient:
        """Return the HTTP client.

        Raises:
            NoControlPlane: Outside of the client's ``with`` block.
        """
        if self.client is None:
            raise NoControlPlane("the client is not open: use it inside of its with block")
        return self.client

    def request(self, method: str, path: str, **more: Any) -> Any:
        """Send one request and return its JSON body."""
        return self.open_client().request(method, f"/api/v0{path}", **more)

    def content(self, path: str) -> bytes:
        """Return a body undecoded."""
        return (self.open_client().reply("GET", f"/api/v0{path}")).content
