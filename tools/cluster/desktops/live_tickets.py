"""Addresses of live views at nodes, with a signed ticket in each."""

import logging
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from deskhand.tools.cluster.errors import BadAuthority
from deskhand.tools.cluster.tickets import VALID_SECONDS, LiveTicket, TicketRole, TicketSigner
from deskhand.vncbridge.auth.people import person_of
from deskhand.vncbridge.auth.policy import Principal
from deskhand.vncbridge.auth.scopes import desktop_role

from .placed import Placed

log = logging.getLogger(__name__)


class LiveTickets:
    """Signs them with the key in the directory ``certificates``; ``now`` returns unix time."""

    def __init__(
        self,
        certificates: Path,
        placed: Callable[[], Placed],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._certificates = certificates
        self._placed = placed
        self._now = now

    def url(self, desktop_id: str, bearer: Principal, seconds: float) -> str:
        """Return where the bearer of a ticket can open the live view once; see `TicketUrl`."""
        placed = self._placed()
        desktop = placed.ready(desktop_id)
        node = None if desktop is None else placed.nodes.get(desktop.gate.node)
        if desktop is None or node is None or not node.has_viewers:
            return ""
        role: TicketRole = (
            "view" if desktop_role(bearer.scopes, desktop_id) == "view" else "control"
        )
        ticket = LiveTicket(
            secrets.token_urlsafe(16),
            node.gate.node,
            desktop_id,
            role,
            self._now() + min(seconds, VALID_SECONDS),
            caller=bearer.name,
            via=bearer.via,
            ends=bearer.ends,
            chat_id=desktop.chat_id or "",
            person=bearer.name if person_of(bearer.token_id) else "",
            origin=bearer.origin,
        )
        try:
            # Tickets are few, and a key that was replaced counts at once.
            signed = TicketSigner.of_folder(self._certificates).sign(ticket)
        except BadAuthority as error:
            log.warning("a live view goes through this control plane: %s", error)
            return ""
        return f"{node.public_url.rstrip('/')}/live/{desktop_id}?ticket={signed}"
