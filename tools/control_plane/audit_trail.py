"""ASGI middleware that writes the records of requests to the audit log."""

from collections.abc import Mapping
from typing import Any, Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .audit_entries import LEASE, MCP_PATHS, AnsweredRequest, entry_of

Json = dict[str, Any]
_LONGEST_LEASE_BODY = 4096
CLIENT_LEFT = 499
"""Status in the record of a request that was not answered: its client had left, or it failed."""


class AuditNotes(Protocol):
    """Port to the audit log; ``deskhand.tools.audit.log.AuditLog`` implements it."""

    def note(self, actor: str, action: str, subject: str, details: Json | None = None) -> None:
        """Record an event soon."""


class AuditTrail:
    """ASGI middleware within that of access control; writes the records of requests."""

    def __init__(self, app: ASGIApp, notes: AuditNotes) -> None:
        self._app = app
        self._notes = notes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application, and record it when it is answered or has ended."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        answered_with = 0
        body = bytearray()
        # The answer to a call over MCP may be a stream that begins before the call.
        late = scope["path"] in MCP_PATHS

        async def received() -> Message:
            message = await receive()
            if len(body) < _LONGEST_LEASE_BODY:
                body.extend(message.get("body", b""))
            return message

        async def answered(message: Message) -> None:
            nonlocal answered_with
            status = _status(message)
            if status and not answered_with:
                answered_with = status
                if not late:
                    self._note(scope, status, bytes(body))
            await send(message)

        # Only this body is read: others may be large, or contain values.
        is_lease = scope["type"] == "http" and scope["path"].endswith(LEASE)
        try:
            await self._app(scope, received if is_lease else receive, answered)
        finally:
            # What was requested may have been done all the same.
            if (late or not answered_with) and scope["type"] == "http":
                self._note(scope, answered_with or CLIENT_LEFT, bytes(body))

    def _note(self, scope: Scope, status: int, body: bytes) -> None:
        state: Mapping[str, Any] = scope.get("state", {})
        client = scope.get("client")
        entry = entry_of(
            AnsweredRequest(
                scope["type"],
                scope.get("method", ""),
                scope["path"],
                status,
                client[0] if client else "",
                state.get("signed_in") or state.get("principal"),
                body,
                state.get("tool_call") or {},
                state.get("started_desktop") or {},
            )
        )
        if entry is not None:
            self._notes.note(entry.actor, entry.action, entry.subject, entry.details)


def _status(message: Message) -> int:
    match message["type"]:
        case "http.response.start" | "websocket.http.response.start":
            return int(message["status"])
        case "websocket.accept":
            return 101
    return 0
