"""The public port of a node: live views, which browsers open with tickets.

    wss://NODE/live/{desktop_id}?ticket=...  -->  /api/v0/desktop/vnc of the desktop

Nothing else is served there. A stream ends with the credential of its ticket.
"""

import logging
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.datastructures import Headers, QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from deskhand.desktop.errors import DesktopUnavailable
from deskhand.tools.cluster.errors import TicketRefused
from deskhand.tools.cluster.gate.answers import refuse
from deskhand.tools.cluster.gate.bodies import json_of
from deskhand.tools.cluster.gate.forwarding import Clients, forward_websocket
from deskhand.tools.cluster.gate.planes_only import Note, no_note, plane_of
from deskhand.tools.cluster.tickets import LiveTicket, TicketReader
from deskhand.tools.fleet.errors import BadOrder, UnknownDesktop
from deskhand.vncbridge.auth.policy import Principal
from deskhand.vncbridge.auth.revocation import CredentialLifetimes
from deskhand.vncbridge.server.http_protocol import mark_proven

from .ticket_journal import TicketJournal

log = logging.getLogger(__name__)

LIVE = "/live/"
VNC = "/api/v0/desktop/vnc"


class LiveViews:
    """ASGI application of the public port; ``now`` returns unix time."""

    def __init__(
        self,
        tickets: TicketReader,
        used: TicketJournal,
        clients: Clients,
        now: Callable[[], float] = time.time,
        note: Note = no_note,
    ) -> None:
        self._note = note
        self._tickets = tickets
        self._clients = clients
        self._now = now
        self._used = used
        self._lifetimes = CredentialLifetimes(now)
        # Answers everything that is no live view with 404.
        self._others = Starlette()

    def revoke(self, credentials: Collection[str]) -> None:
        """End the streams of credentials, and refuse their tickets."""
        self._used.revoke(credentials, self._now())
        for name in credentials:
            self._lifetimes.end(name)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Open one live view."""
        if scope["type"] != "websocket" or not scope["path"].startswith(LIVE):
            await self._others(scope, receive, send)
            return
        desktop_id = scope["path"].removeprefix(LIVE)
        try:
            ticket = self._admitted(scope, desktop_id)
            mark_proven(scope)
            client = self._clients(desktop_id)
            self._note(ticket.caller, "desktop.live_view", desktop_id, _details(ticket))
            forward = partial(forward_websocket, client, _target(ticket, scope))
            principal = Principal(ticket.caller, via=(*ticket.via, ticket.caller), ends=ticket.ends)
            await self._lifetimes.serve(principal, forward, scope, receive, send)
        except TicketRefused as error:
            log.warning("a ticket for the desktop %.20r is refused: %s", desktop_id, error)
            await refuse(error, scope, receive, send)
        except (UnknownDesktop, DesktopUnavailable) as error:
            await refuse(error, scope, receive, send)

    def _admitted(self, scope: Scope, desktop_id: str) -> LiveTicket:
        now = self._now()
        ticket = self._tickets.read(QueryParams(scope["query_string"]).get("ticket", ""), now)
        if ticket.desktop_id != desktop_id:
            raise TicketRefused(f"it is for the desktop {ticket.desktop_id}")
        if ticket.origin and Headers(scope=scope).get("origin") != ticket.origin:
            raise TicketRefused(f"it is for the pages of {ticket.origin}")
        self._used.use(ticket, now)
        return ticket


class Revocations:
    """The route by which control planes end the streams of credentials."""

    def __init__(self, end: Callable[[Collection[str]], None], note: Note = no_note) -> None:
        self._end = end
        self._note = note

    @property
    def routes(self) -> Sequence[BaseRoute]:
        """The route."""
        return (Route("/revocations", self._revoke, methods=["POST"]),)

    async def _revoke(self, request: Request) -> Response:
        names = (await json_of(request)).get("credentials")
        if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
            raise BadOrder("credentials must be a list of names")
        self._end(names)
        shown = [_shown(one) for one in names]
        self._note(plane_of(request.scope), "node.revocation", "", {"credentials": shown})
        return Response(status_code=204)


def _details(ticket: LiveTicket) -> dict[str, str]:
    found = {"role": ticket.role, "chat": ticket.chat_id, "person": ticket.person}
    found["credential"] = _shown(next(iter(ticket.via), ""))
    return {name: value for name, value in found.items() if value}


def _shown(credential: str) -> str:
    """Return the name of a credential as control planes record it: without most of a digest."""
    kind, colon, value = credential.partition(":")
    return f"{kind}{colon}{value[:16]}"


def _target(ticket: LiveTicket, scope: Scope) -> str:
    """Return the path of the live view, with the role and the name of the ticket.

    These are the last parameters: of repeated ones the desktop service takes the last.
    """
    given = scope["query_string"].decode("latin-1").split("&")
    parameters = [one for one in given if one and one.partition("=")[0] != "ticket"]
    if ticket.role == "view":
        parameters.append("role=view")
    if ticket.person:
        parameters.append(f"name={quote(ticket.person, safe='')}")
    return f"{VNC}?{'&'.join(parameters)}" if parameters else VNC
