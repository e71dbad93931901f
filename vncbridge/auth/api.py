"""Routes that issue, list and revoke credentials."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .credentials import Credentials, Issued
from .policy import Principal
from .scopes import SCOPE, desktop_role, valid

Json = dict[str, Any]
SHARED_SECONDS = 7 * 24 * 3600.0
"""Default lifetime of a share link."""
TICKET_SECONDS = 30.0
LONGEST_TICKET = 300.0
LONGEST_TOKEN = 10 * 365 * 24 * 3600.0


TicketUrl = Callable[[str, Principal, float], str]
"""Returns an address that opens the live view of a desktop once, without this service; empty if
there is none. The scope of the principal names the role; the number is the lifetime in seconds."""


def no_url(desktop: str, bearer: Principal, seconds: float) -> str:
    """Return that a desktop has no address of its own."""
    return ""


Scope = Annotated[str, WithJsonSchema({"type": "string", "pattern": f"^({SCOPE.pattern})$"})]


class NewToken(BaseModel):
    """What a token is to be good for."""

    model_config = ConfigDict(extra="forbid")

    scopes: Annotated[list[Scope], Field(min_length=1, max_length=16)]
    name: Annotated[str, Field(max_length=80)] = ""
    """For people, in the list of tokens."""
    ttl_s: Annotated[float | None, Field(gt=0, le=LONGEST_TOKEN)] = None
    """Lifetime in seconds; by default unlimited, but seven days for a share link."""


class NewTicket(BaseModel):
    """What a ticket is to be good for."""

    model_config = ConfigDict(extra="forbid")

    role: Literal["view", "control"] = "view"
    ttl_s: Annotated[float, Field(gt=0, le=LONGEST_TICKET)] = TICKET_SECONDS
    origin: Annotated[str, Field(pattern=r"^https?://[^/\s?#@]{1,255}$")] | None = None
    """Origin (RFC 6454) of the page that opens the stream, if it is not one of ours."""


def tokens_router(credentials: Credentials, base_url: Callable[[], str] = lambda: "") -> APIRouter:
    """Return the routes of tokens; only administrators reach them."""
    routes = LazyRouter(prefix="/api/v0/tokens", tags=["credentials"])

    @routes.post("", status_code=201)
    async def issue(wanted: NewToken, request: Request) -> Json:
        """Make a token. It is shown once: only its digest is kept."""
        wrong = [scope for scope in wanted.scopes if not valid(scope)]
        if wrong:
            raise HTTPException(400, {"message": f"There is no scope {wrong[0]!r}."})
        runs = [scope.split(":")[1] for scope in wanted.scopes if scope.startswith("run:")]
        # A token for runs, with their desktops to watch at most, is a share link: links are passed
        # on, so it ends by default.
        shares = bool(runs) and all(_is_shared(scope) for scope in wanted.scopes)
        seconds = wanted.ttl_s or (SHARED_SECONDS if shares else None)
        creator: Principal = request.scope["state"]["principal"]
        one, token = await credentials.issue(
            *(wanted.name, tuple(wanted.scopes), seconds, creator.name)
        )
        issued = {**_issued_json(one), "token": token}
        if shares:
            # Browsers do not send the fragment, so the token reaches no server log.
            issued["url"] = f"{base_url()}/login?next=/runs/{runs[0]}#code={token}"
        return issued

    @routes.get("")
    async def listing() -> Json:
        """List the tokens that work."""
        return {"tokens": [_issued_json(one) for one in credentials.issued]}

    @routes.delete("/{token_id}", status_code=204)
    async def revoke(token_id: str) -> Response:
        """End a token, and every session that was opened with it."""
        if not await credentials.revoke(token_id):
            raise HTTPException(404, {"message": "Token not found."})
        return Response(status_code=204)

    return routes


def tickets_router(
    credentials: Credentials,
    path: str,
    desktop_of: Callable[[Request], Awaitable[str]],
    ticket_url: TicketUrl = no_url,
) -> APIRouter:
    """Return the route of tickets at ``path``; ``desktop_of`` returns the id of the desktop."""
    routes = LazyRouter(tags=["credentials"])

    @routes.post(path, status_code=201)
    async def ticket(request: Request, wanted: NewTicket | None = None) -> Json:
        """Make a ticket that opens the VNC stream once: `vnc?ticket=...`.

        With `origin` a page of that origin may open it, too. Where viewers reach the
        desktop without this service, the answer has `url`, which opens the stream there once, in
        the next 30 s at most.
        """
        wanted = wanted or NewTicket()
        desktop = await desktop_of(request)
        asker: Principal = request.scope["state"]["principal"]
        # A ticket must not exceed the credential that asks for it.
        if wanted.role == "control" and desktop_role(asker.scopes, desktop) == "view":
            raise HTTPException(403, {"message": "This credential is for watching only."})
        scope = f"desktop:{desktop}:{wanted.role}"
        # ``via`` and ``ends`` are those of the asker: revoking its token ends the ticket and its
        # stream.
        bearer = Principal(
            *(asker.name, (scope,), asker.via, asker.ends, asker.token_id, wanted.origin or "")
        )
        secret, ends = await credentials.ticket(bearer, wanted.ttl_s)
        made = {"ticket": secret, "expires_at": ends, "role": wanted.role}
        url = ticket_url(desktop, bearer, wanted.ttl_s)
        return {**made, "url": url} if url else made

    return routes


def _is_shared(scope: str) -> bool:
    kind, _, level = scope.split(":") if scope.count(":") == 2 else ("", "", "")
    return kind == "run" or (kind, level) == ("desktop", "view")


def _issued_json(one: Issued) -> Json:
    return {
        "id": one.id,
        "name": one.name,
        "scopes": list(one.scopes),
        "created_at": one.created,
        "created_by": one.created_by,
        "expires_at": one.ends,
    }
