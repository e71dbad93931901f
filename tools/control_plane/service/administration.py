"""Routers of what an administrator looks after, composed with what they show and change."""

from fastapi import APIRouter, Request

from deskhand.tools.audit.log import AuditLog
from deskhand.tools.control_plane.routes.audit import router as audit_router
from deskhand.tools.control_plane.routes.profiles import router as profiles_router
from deskhand.tools.control_plane.routes.secrets import router as secrets_router
from deskhand.tools.fleet.fleet import Fleet
from deskhand.tools.people.api import router as people_router
from deskhand.tools.people.api import shares_router
from deskhand.tools.people.people import People
from deskhand.tools.run_list.api import router as runs_router
from deskhand.tools.run_list.run_list import RunList
from deskhand.tools.secrets.store import SecretStore
from deskhand.tools.store.database import Store
from deskhand.vncbridge.auth.api import tickets_router, tokens_router
from deskhand.vncbridge.auth.credentials import Credentials

TICKETS = "/api/v0/desktops/{desktop_id}/desktop/tickets"


def admin_routers(
    secret_store: SecretStore,
    audit: AuditLog,
    credentials: Credentials,
    base_url: str,
    store: Store,
    fleet: Fleet,
    people: People,
) -> tuple[APIRouter, ...]:
    """Return the routers of secrets, profiles, the audit log, runs, people and tokens."""
    return (
        secrets_router(secret_store, store.check_room),
        profiles_router(fleet.profiles),
        audit_router(audit),
        runs_router(RunList(store)),
        people_router(people, credentials, lambda: base_url),
        shares_router(people, credentials),
        tokens_router(credentials, lambda: base_url),
        tickets_router(credentials, TICKETS, lambda r: _known(fleet, r)),
    )


def _known(fleet: Fleet, request: Request) -> str:
    """Return the id of the desktop that a request names; raises ``UnknownDesktop``."""
    desktop_id: str = request.path_params["desktop_id"]
    fleet.client(desktop_id)
    return desktop_id
