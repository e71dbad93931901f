"""Access to a gate: control planes of the cluster pass, as long as their certificates are good.

Each request is checked, also later ones of an open connection. What lasts, as a WebSocket, is
checked again every few seconds, and its connection is ended when its control plane was revoked.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from deskhand.tools.cluster.certificates import ClusterPeer
from deskhand.tools.cluster.errors import PeerRefused
from deskhand.tools.cluster.trust import ClusterTls
from deskhand.vncbridge.server.http_protocol import mark_proven
from deskhand.vncbridge.server.peer_certificate import PeerConnection, connection_of

from .answers import refuse

log = logging.getLogger(__name__)

CHECK_SECONDS = 5.0
Note = Callable[[str, str, str, dict[str, Any]], None]
"""Adds a record to the audit log: actor, action, subject, details."""


def no_note(actor: str, action: str, subject: str, details: dict[str, Any]) -> None:
    """Add no record."""


def plane_of(scope: Mapping[str, Any]) -> str:
    """Return the name of the control plane that has sent a request."""
    state: Mapping[str, str] = scope.get("state", {})
    return state.get("plane", "")


class PlanesOnly:
    """ASGI middleware; ``seen`` is called with each request that passes."""

    def __init__(self, app: ASGIApp, tls: ClusterTls, seen: Callable[[], None]) -> None:
        self._app = app
        self._tls = tls
        self._seen = seen
        self._open: set[PeerConnection] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        try:
            connection = connection_of(scope)
            if connection is None:
                raise PeerRefused("this port is for control planes of the cluster")
            plane = self._check(connection)
        except PeerRefused as error:
            log.warning("a request is refused: %s", error)
            await refuse(error, scope, receive, send)
            return
        mark_proven(scope)
        scope.setdefault("state", {})["plane"] = plane.member.name
        self._seen()
        self._open.add(connection)
        try:
            await self._app(scope, receive, send)
        finally:
            self._open.discard(connection)

    def end_refused(self) -> None:
        """End the open connections whose certificates are not good any more."""
        for connection in tuple(self._open):
            try:
                self._check(connection)
            except PeerRefused as error:
                log.warning("a connection ends: %s", error)
                connection.abort()

    async def run(self, seconds: float = CHECK_SECONDS) -> None:
        """Do this every few seconds; never return."""
        while True:
            await asyncio.sleep(seconds)
            self.end_refused()

    def _check(self, connection: PeerConnection) -> ClusterPeer:
        return self._tls.check(connection.certificate, "plane")
