"""Routes by which a browser signs in and out."""

import asyncio

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .credentials import SESSION_SECONDS, Credentials
from .policy import BASE_PATH, Principal, cookie_of


def set_session_cookie(
    request: Request, response: Response, name: str, value: str, *, secure: bool = False
) -> None:
    """Add the cookie of a session to a response; it is ``Secure`` for a request over TLS."""
    response.set_cookie(
        name,
        value,
        max_age=int(SESSION_SECONDS),
        httponly=True,
        samesite="strict",
        # A browser that signs in over TLS must never send the cookie without.
        secure=secure or request.scope["scheme"] == "https",
        path=_cookie_path(request),
    )


def _cookie_path(request: Request) -> str:
    """Return the path of the cookie, which other services of the host must not receive."""
    return str(request.scope.get(BASE_PATH, "")) or "/"


class SignIn(BaseModel):
    """What the login page sends: the printed link's code, or a token."""

    code: str


def login_router(credentials: Credentials, secure: bool = False) -> APIRouter:
    """Return the routes by which a browser signs in and out."""
    router = LazyRouter()

    @router.post("/api/v0/login", tags=["sign in"])
    async def sign_in(request: Request, body: SignIn) -> Response:
        """Trade a one-time code, or a token, for a session cookie."""
        value = await credentials.sign_in(body.code.strip())
        if value is None:
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
        request.state.signed_in = credentials.by_cookie(value)
        response = JSONResponse({"signed_in": True})
        set_session_cookie(request, response, credentials.cookie_name, value, secure=secure)
        return response

    @router.post("/api/v0/login/codes", tags=["sign in"])
    async def new_code(request: Request) -> dict[str, str]:
        """Make a one-time login code, for a link that signs a browser in."""
        maker: Principal = request.scope["state"]["principal"]
        return {"code": await credentials.new_code(maker.person)}

    @router.post("/logout", tags=["sign in"])
    async def sign_out(request: Request) -> Response:
        """End this browser's session."""
        cookie = cookie_of(request.headers.get("cookie"), credentials.cookie_name)
        if cookie is not None:
            await credentials.sign_out(cookie)
        response = JSONResponse({"signed_in": False})
        response.delete_cookie(credentials.cookie_name, path=_cookie_path(request))
        return response

    return router
