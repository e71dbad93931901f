"""Records of the audit log from requests. Pure.

The log has sign-ins, every request that changes something, and live views. Other reads are left
out: pages poll screenshots and lists all the time.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deskhand.vncbridge.auth.people import person_of
from deskhand.vncbridge.auth.policy import SAFE_METHODS, Principal

Json = dict[str, Any]

LOGIN, LOGOUT = "/api/v0/login", "/logout"
TICKETS = f"{LOGIN}/tickets"
"""Pages make one for each WebSocket, which is the event."""
LEASE = "/desktop/lease"
MCP_PATHS = ("/mcp", "/mcp/")
"""Of their requests only calls of tools are events."""

_DESKTOPS, _CHATS, _SECRETS = "/api/v0/desktops/", "/api/v0/chats/", "/api/v0/secrets/"


_LEASE_ACTIONS = {
    "request": "desktop.control_requested",
    "take": "desktop.take_over",
    "release": "desktop.hand_back",
}
"""Calls of the lease; a holder's ``renew`` is no event."""


@dataclass(frozen=True)
class AuditEntry:
    """Fields of a record."""

    actor: str
    action: str
    subject: str
    details: Json = field(default_factory=dict)


@dataclass(frozen=True)
class AnsweredRequest:
    """Facts of a request that was answered, or not waited for."""

    kind: str
    """``http`` or ``websocket``."""
    method: str
    path: str
    status: int
    client: str
    """Address of the peer."""
    principal: Principal | None
    body: bytes = b""
    """Of a call of the lease."""
    tool_call: Mapping[str, str] = field(default_factory=dict)
    """Of a call of a tool: the ``chat`` for which it was made, and the ``desktop`` of the chat;
    over MCP also its name."""
    started: Mapping[str, Any] = field(default_factory=dict)
    """Of the start of a desktop with grants: the ``desktop``, and the ``grants``."""


def entry_of(request: AnsweredRequest) -> AuditEntry | None:
    """Return the record of a request, ``None`` if the log does not have it."""
    if request.kind == "http" and (request.method in SAFE_METHODS or request.path == TICKETS):
        return None
    if request.path in MCP_PATHS and not request.tool_call:
        return None
    if request.kind == "websocket" and not request.path.endswith(("/vnc", "/desktop")):
        return None
    details: Json = {"path": request.path, "status": request.status}
    if request.kind == "http":
        details["method"] = request.method
    if credential := _credential(request.principal):
        details["credential"] = credential
    actor = "" if request.principal is None else request.principal.name
    if request.path == LOGIN:
        details = {"client": request.client, **details}
        return AuditEntry(
            actor, "signed_in" if request.status < 400 else "sign_in.refused", "", details
        )
    action = _action(request)
    if request.principal is None or not action:
        return None
    if name := _lease_call(request.body).get("name"):
        signed_in = person_of(request.principal.token_id)
        details["person"] = actor if signed_in else str(name)
    details |= {**request.tool_call, **request.started}
    subject = _subject(request.path) or request.tool_call.get("chat", "")
    return AuditEntry(actor, action, subject, details)


def _action(request: AnsweredRequest) -> str:
    """Return the name of the action; empty for a request that is no event."""
    if request.path == LOGOUT:
        return "signed_out"
    if request.kind == "websocket":
        return "desktop.live_view"
    if not request.path.startswith(_DESKTOPS):
        return "request"
    if request.path.endswith(LEASE) and request.method == "POST":
        return _LEASE_ACTIONS.get(str(_lease_call(request.body).get("action")), "")
    if request.path.endswith(LEASE):
        return "desktop.hand_back"
    return "desktop.request"


def _lease_call(body: bytes) -> Json:
    try:
        call = json.loads(body)
    except ValueError:
        return {}
    return call if isinstance(call, dict) else {}


def _subject(path: str) -> str:
    for prefix in (_DESKTOPS, _CHATS, _SECRETS):
        if path.startswith(prefix):
            return path.removeprefix(prefix).partition("/")[0]
    return ""


def _credential(principal: Principal | None) -> str:
    """Return the id of the token, or the beginning of the digest of the session."""
    if principal is None:
        return ""
    kind, _, value = next(iter(principal.via), "").partition(":")
    return f"{kind}:{value[:16]}" if value else ""
