"""Routes by which a browser signs in and out."""

import asyncio

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .credentials import SESSION_SECONDS, Credentials
from .policy import BASE_PATH, Principal, cookie_of
from .request_headers import PAGE_KEY
from .scopes import ADMIN

TICKETS = "/api/v0/login/tickets"
TICKET_SECONDS = 30.0


class SignIn(BaseModel):
    """What the login page sends: the printed link's code, or a token."""

    code: str


def login_router(credentials: Credentials, secure: bool = False) -> APIRouter:
    """Return the routes by which a browser signs in and out."""
    router = LazyRouter()

    @router.post("/api/v0/login", tags=["sign in"])
    async def sign_in(request: Request, body: SignIn) -> Response:
        """Trade a one-time code, or a token, for a session: a cookie and a page key.

        Each later call needs both: the cookie, and `page_key` in the header `Deskhand-Page-Key`.
        With `for_tab` the session of a share link or a token is beside that of the person who is
        signed in already, and its key is for this tab only.
        """
        holder = await _holder(credentials, request)
        cookie = await credentials.sign_in(body.code.strip())
        if cookie is None:
            # The middleware does not delay wrong codes, as this route is open.
            await asyncio.sleep(0.5)
            raise HTTPException(
                401,
                {
                    "message": "This code is wrong, used or too old.",
                    "detail": "`deskhand url` prints a fresh link; a token works as well",
                },
            )
        # For an audit log: the request itself has no principal.
        signed_in = request.state.signed_in = credentials.by_cookie(cookie)
        beside = holder is not None and not _is_guest(holder) and _is_guest(signed_in)
        over_tls = secure or request.scope["scheme"] == "https"
        return _session(credentials, request, cookie, over_tls=over_tls, for_tab=beside)

    @router.post("/api/v0/login/codes", tags=["sign in"])
    async def new_code(request: Request) -> dict[str, str]:
        """Make a one-time login code, for a link that signs a browser in."""
        maker: Principal = request.scope["state"]["principal"]
        return {"code": await credentials.new_code(maker.person)}

    @router.post(TICKETS, tags=["sign in"], status_code=201)
    async def ticket(request: Request) -> dict[str, str | float]:
        """Make a ticket that opens one WebSocket, or answers one GET, as `?ticket=...`.

        A browser sends no header of a page with these. The ticket has the rights of its maker.
        """
        maker: Principal = request.scope["state"]["principal"]
        secret, ends = await credentials.ticket(maker, TICKET_SECONDS)
        return {"ticket": secret, "expires_at": ends}

    @router.post("/logout", tags=["sign in"])
    async def sign_out(request: Request) -> Response:
        """End this browser's session."""
        response = JSONResponse({"signed_in": False})
        key = request.headers.get(PAGE_KEY, "")
        for name in credentials.cookie_names:
            cookie = cookie_of(request.headers.get("cookie"), name)
            if cookie is not None and credentials.page_keys.fits(cookie, key):
                await credentials.sign_out(cookie)
                response.delete_cookie(name, path=_cookie_path(request))
        return response

    return router


def _session(
    credentials: Credentials, request: Request, cookie: str, *, over_tls: bool, for_tab: bool
) -> Response:
    """Return the answer with both halves of a session."""
    key = credentials.page_keys.of(cookie, over_tls=over_tls)
    response = JSONResponse({"signed_in": True, "page_key": key, "for_tab": for_tab})
    # A browser that signs in over TLS must never send the cookie without.
    response.set_cookie(
        credentials.link_cookie_name if for_tab else credentials.cookie_name,
        cookie,
        max_age=int(SESSION_SECONDS),
        httponly=True,
        samesite="strict",
        secure=over_tls,
        path=_cookie_path(request),
    )
    return response


async def _holder(credentials: Credentials, request: Request) -> Principal | None:
    """Return who is signed in already in the browser of a request."""
    cookie = cookie_of(request.headers.get("cookie"), credentials.cookie_name)
    return None if cookie is None else await credentials.find_cookie(cookie)


def _is_guest(principal: Principal | None) -> bool:
    """Return whether a session is that of a share link or another limited token."""
    return principal is not None and ADMIN not in principal.scopes and not principal.person


def _cookie_path(request: Request) -> str:
    """Return the path of the cookie, which other services of the host must not receive."""
    return str(request.scope.get(BASE_PATH, "")) or "/"
