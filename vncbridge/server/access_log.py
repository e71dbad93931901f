"""One line for each request: caller, chat, method, path, status and duration.

Queries, bodies and credentials are never logged, because logs are shown to other people.
"""

import json
import logging
import re
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deskhand.vncbridge.http import caller_headers

from .json_logs import ACCESS, log_context

logger = logging.getLogger(ACCESS)
logger.propagate = False

QUIET = frozenset({"/healthz", "/readyz"})
LONGEST = 200
"""Characters of a path, a name or an id."""
MOST_ANCESTORS = 16
SWITCHING = 101
BROKEN = 500

_RUN = re.compile(r"/api/v0/(?:chats|runs)/([0-9a-fA-F-]{36})(?:/|$)")
"""Paths of a run: its id is that of its chat."""

_PREFIXES = tuple(prefix.encode() for prefix in caller_headers.PREFIXES)

Json = dict[str, Any]

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class AccessLog:
    """ASGI middleware, the outermost, so that refused requests are logged as well.

    Lines that handlers log during a request carry the request's chat.
    """

    def __init__(
        self,
        app: ASGIApp,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        new_id: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> None:
        self._app = app
        self._clock = clock
        self._wall = wall
        self._new_id = new_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request and log it when it has ended."""
        # Probes come every few seconds and would hide the other lines.
        if scope["type"] not in ("http", "websocket") or scope["path"] in QUIET:
            await self._app(scope, receive, send)
            return
        began, at = self._clock(), self._wall()
        status = 0
        request_id = self._new_id()
        headers, named = scope["headers"], _named(scope)

        async def watched(message: Message) -> None:
            nonlocal status
            # The first status counts: an accepted WebSocket is closed later.
            status = status or _status(message)
            await send(message)

        try:
            with log_context({**named, "request_id": request_id}):
                await self._app(scope, receive, watched)
        except BaseException:
            status = status or BROKEN
            raise
        finally:
            took = self._clock() - began
            if logger.isEnabledFor(logging.INFO) and logger.hasHandlers():
                # Access control may have added the chat of the credential.
                known = named if scope["headers"] is headers else _named(scope)
                line = {**entry(scope, status, at, took), **known, "request_id": request_id}
                _write(_encode(line))


def entry(scope: Scope, status: int, at: float, took: float) -> Json:
    """Return the line for a request that began at ``at`` (Unix) and ``took`` seconds.

    It is still without the chat.
    """
    principal = scope.get("state", {}).get("principal")
    line: Json = {
        "time": datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds"),
        "method": scope.get("method", "WEBSOCKET"),
        "path": scope["path"][:LONGEST],
        "status": status,
        "duration_ms": round(took * 1000, 1),
    }
    if principal is not None:
        line["caller"] = str(principal.name)[:LONGEST]
    return line


def _write(line: str) -> None:
    # ``logger.info`` would look for the calling line, which no access log shows.
    logger.handle(logger.makeRecord(ACCESS, logging.INFO, "", 0, line, (), None))


def _named(scope: Scope) -> Json:
    """Return the chat of a request: that of its headers, else that of its path."""
    # Most requests of people have no such header.
    concerns = any(name.startswith(_PREFIXES) for name, _ in scope["headers"])
    fields = chat_fields(Headers(scope=scope)) if concerns else {}
    found = _RUN.match(scope["path"])
    chat = _uuid(found[1]) if found and not fields.get("chat_id") else ""
    return {"chat_id": chat, **fields} if chat else fields


def chat_fields(headers: Headers) -> Json:
    """Return the chat and tool call of a request, without values that are malformed."""
    chat = _uuid(caller_headers.text(headers, caller_headers.CHAT))
    fields: Json = {"chat_id": chat} if chat else {}
    named = caller_headers.text(headers, caller_headers.ANCESTORS)
    ancestors = _ancestors(named) if chat else []
    if ancestors:
        fields["ancestor_chat_ids"] = ancestors
    call = caller_headers.text(headers, caller_headers.TOOL_CALL)[:LONGEST]
    if call:
        fields["tool_call_id"] = call
    return fields


def _ancestors(text: str) -> list[str]:
    try:
        listed = json.loads(text or "[]")
    # Deeply nested JSON raises ``RecursionError``.
    except (ValueError, RecursionError):
        return []
    if not isinstance(listed, list):
        return []
    return [found for item in listed[:MOST_ANCESTORS] if (found := _uuid(str(item)))]


def _uuid(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        return ""


def _status(message: Message) -> int:
    match message["type"]:
        case "http.response.start" | "websocket.http.response.start":
            return int(message["status"])
        case "websocket.accept":
            return SWITCHING
        case "websocket.close":
            # Servers answer a close before the accept with 403 (ASGI specification).
            return 403
    return 0
