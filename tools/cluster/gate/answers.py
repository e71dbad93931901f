"""Answers of a gate: its errors as status, sentence and code. Every error has all three."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.desktop.network.errors import InvalidEgress
from deskhand.tools.cluster.errors import PeerRefused, TicketRefused
from deskhand.tools.fleet.errors import (
    BadOrder,
    DesktopNotStarted,
    LauncherEnded,
    LauncherRefused,
    ProfileTaken,
    UnknownDesktop,
    UnknownProfile,
)
from deskhand.tools.templates.errors import TemplateError

from .errors import NodeFull, NotRemoved, UploadFailed

Json = dict[str, Any]


@dataclass(frozen=True)
class ErrorKind:
    """Status and code of an error."""

    status: int
    code: str


KINDS: Mapping[type[Exception], ErrorKind] = {
    BadOrder: ErrorKind(400, "bad_order"),
    InvalidEgress: ErrorKind(400, "bad_order"),
    TemplateError: ErrorKind(400, "bad_template"),
    PeerRefused: ErrorKind(403, "peer_refused"),
    TicketRefused: ErrorKind(403, "ticket_refused"),
    UnknownDesktop: ErrorKind(404, "unknown_desktop"),
    UnknownProfile: ErrorKind(404, "unknown_profile"),
    FileNotFoundError: ErrorKind(404, "unknown_file"),
    NodeFull: ErrorKind(409, "no_room"),
    DesktopNotStarted: ErrorKind(409, "not_started"),
    ProfileTaken: ErrorKind(409, "profile_taken"),
    NotRemoved: ErrorKind(409, "not_removed"),
    LauncherRefused: ErrorKind(409, "refused"),
    DesktopRefused: ErrorKind(502, "desktop_refused"),
    DesktopUnavailable: ErrorKind(502, "desktop_unavailable"),
    UploadFailed: ErrorKind(502, "upload_failed"),
    LauncherEnded: ErrorKind(503, "launcher_ended"),
}


def kind_of(error: Exception) -> ErrorKind:
    """Return the kind of an error of :data:`KINDS`, or of a class below one of them."""
    return next(KINDS[one] for one in type(error).__mro__ if one in KINDS)


def error_body(error: Exception) -> Json:
    """Return the content of the answer to an error."""
    return {"message": str(error), "code": kind_of(error).code}


def error_answer(error: Exception) -> Response:
    """Return the answer to an error."""
    return JSONResponse(error_body(error), kind_of(error).status)


async def on_error(_: Request, error: Exception) -> Response:
    """Answer an error of a route."""
    return error_answer(error)


async def on_no_route(_: Request, error: Exception) -> Response:
    """Answer a request to a path that is not served, or with another method."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    return JSONResponse({"message": "The gate serves nothing there.", "code": "no_route"}, status)


async def on_defect(_: Request, error: Exception) -> Response:
    """Answer a request whose route has failed; the server logs the error."""
    message = f"The gate has failed: {type(error).__name__}."
    return JSONResponse({"message": message, "code": "defect"}, 500)


async def refuse(error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request or the handshake of a WebSocket with an error."""
    answer: ASGIApp = error_answer(error)
    # Starlette sends it as the response of a handshake, where the server supports that.
    await answer(scope, receive, send)
