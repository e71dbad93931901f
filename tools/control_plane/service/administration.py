"""Routers of what an administrator looks after, composed with what they show and change."""

from fastapi import APIRouter, Request

from deskhand.tools.audit.log import AuditLog
from deskhand.tools.control_plane.routes.audit import router as audit_router
from deskhand.tools.control_plane.routes.profiles import router as profiles_router
from deskhand.tools.control_plane.routes.secrets import router as secrets_router
from deskhand.tools.control_plane.settings import Settings
from deskhand.tools.fleet.placement.placement import Placement
from deskhand.tools.people.api import router as people_router
from deskhand.tools.people.api import shares_router
from deskhand.tools.run_list.api import router as runs_router
from deskhand.tools.run_list.run_list import RunList
from deskhand.tools.store.database import Store
from deskhand.vncbridge.auth.api import TicketUrl, no_url, tickets_router, tokens_router
from deskhand.vncbridge.auth.credentials import Credentials

from .late_modules import node_desktops
from .people import Access

TICKETS = "/api/v0/desktops/{desktop_id}/desktop/tickets"


def admin_routers(
    settings: Settings,
    access: Access,
    audit: AuditLog,
    base_url: str,
    store: Store,
    fleet: Placement,
) -> tuple[APIRouter, ...]:
    """Return the routers of secrets, profiles, the audit log, runs, people and tokens."""
    people, credentials, secrets = access
    return (
        secrets_router(secrets, store.check_room),
        profiles_router(fleet.profiles),
        audit_router(audit),
        runs_router(RunList(store)),
        people_router(people, credentials, lambda: base_url),
        shares_router(people, credentials),
        tokens_router(credentials, lambda: base_url),
        _tickets(settings, credentials, fleet),
    )


def _tickets(settings: Settings, credentials: Credentials, fleet: Placement) -> APIRouter:
    # Only desktops on nodes have addresses of their own.
    url: TicketUrl = node_desktops().ticket_url(settings, fleet) if settings.cluster else no_url

    async def known(request: Request) -> str:
        desktop_id: str = request.path_params["desktop_id"]
        await fleet.locate(desktop_id)
        # Raises ``UnknownDesktop``.
        fleet.client(desktop_id)
        return desktop_id

    return tickets_router(credentials, TICKETS, known, url)
