"""Access control of every request, before the routes of a service.

`AuthMiddleware` reads the facts of a request, and `AccessPolicy` decides, once. A refused request
is answered here. One that passes carries its `Principal` in the scope's state, and its streams end
with its credential (`revocation`).
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, cast
from urllib.parse import quote

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers, QueryParams
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deskhand.vncbridge.http import caller_headers
from deskhand.vncbridge.http.add_routes import add_routes
from deskhand.vncbridge.server.http_protocol import mark_proven

from .credentials import Credentials
from .errors import BodyTooLarge, SilentBody, too_large
from .login import login_router
from .openapi import Operations, complete_openapi
from .policy import (
    CALLING_DIALECT,
    AccessPolicy,
    Decision,
    Denial,
    PathTraits,
    Principal,
    Proof,
    RequestFacts,
    bearer_of,
    cookie_of,
    dialect_token,
    traits_of,
)
from .request_headers import RequestHeaders, read_headers
from .revocation import REFUSED
from .scopes import ADMIN, Need, chats_of

SILENT_BODY_SECONDS = 30.0

OwningChats = Callable[[str, str], Awaitable[frozenset[str]]]
"""Returns the chats that a ``chat`` or ``file`` belongs to, by its id: itself and its ancestors."""


ErrorPages = Callable[[int, Request], Response | None]
"""Returns the page that a person is shown instead of JSON, by the status of the response."""


def no_error_pages(status: int, request: Request) -> None:
    """Return no page, for a service whose errors are JSON for everyone."""


Grants = Callable[[Principal, Need], Awaitable[tuple[str, ...]]]
"""Returns the scopes that a person has for the object of a request, beside those of the role."""


async def nothing_granted(principal: Principal, needed: Need) -> tuple[str, ...]:
    """Return no scopes, for a service that has no people."""
    return ()


async def owned_by_none(kind: str, name: str) -> frozenset[str]:
    """Return no chats, for a service that has none."""
    return frozenset()


class AuthMiddleware:
    """ASGI middleware: Host, Origin, credentials, content type and size of every request."""

    def __init__(
        self,
        app: ASGIApp,
        gate: AccessPolicy,
        credentials: Credentials,
        kin: OwningChats,
        error_pages: ErrorPages = no_error_pages,
        grants: Grants = nothing_granted,
        wrong_credential_delay: float = 0.5,
        silent_body_seconds: float = SILENT_BODY_SECONDS,
    ) -> None:
        self._app = app
        self._error_pages = error_pages
        self._silent_body_seconds = silent_body_seconds
        self._policy = gate
        self._credentials = credentials
        self._owning_chats = kin
        self._grants = grants
        self._delay = wrong_credential_delay

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = read_headers(scope["headers"])
        traits = traits_of(scope["path"])
        facts, decision = await self._decide(scope, headers, traits)
        if decision.denial is not None:
            await self._refuse(decision.denial, facts, scope, receive, send)
            return
        principal = facts.principal
        if principal is not None and facts.credential == "cookie":
            # Nothing that a route permits beyond this one request follows from it.
            principal = replace(principal, scopes=())
        state = scope.setdefault("state", {})
        state["principal"] = principal
        if traits.dialect:
            # What the routes call in turn takes a bearer token only.
            _set_bearer(scope, headers, traits.dialect)
        state["reads_conversation"] = decision.reads_conversation
        # ``speaks_for`` is empty without the header; a header of the caller is kept.
        if principal is not None and not facts.speaks_for:
            _add_chat_header(scope, chats_of(principal.scopes))
        if scope["type"] == "http":
            limit, declared = decision.largest_body, headers.content_length
            # `_bounded` covers chunked requests, which declare no length.
            if declared.isdecimal() and int(declared) > limit:
                refusal = Denial(413, "Request body is too large.", too_large(limit))
                await _answer(refusal)(scope, receive, send)
                return
            receive = _bounded(receive, limit)
        if principal is None:
            await self._app(scope, _with_patience(receive, self._silent_body_seconds), send)
            return
        mark_proven(scope)
        lifetimes = self._credentials.lifetimes
        await lifetimes.serve(principal, self._app, scope, receive, send)

    async def _decide(
        self, scope: Scope, headers: RequestHeaders, traits: PathTraits
    ) -> tuple[RequestFacts, Decision]:
        """Return the decision about a request: the first that passes, of several credentials."""
        decided = []
        for proof, principal in await self._credentials_of(scope, headers, traits):
            facts, needed = await self._facts(scope, headers, traits, proof, principal)
            decision = self._policy.decide(facts, traits, needed)
            if decision.denial is None:
                return facts, decision
            decided.append((facts, decision))
        return decided[0]

    async def _facts(
        self,
        scope: Scope,
        headers: RequestHeaders,
        traits: PathTraits,
        proof: Proof,
        principal: Principal | None,
    ) -> tuple[RequestFacts, Need | None]:
        """Return the facts of a request, and what it needs if its scopes are looked at."""
        kind, method, path = scope["type"], scope.get("method", "GET"), scope["path"]
        by_dialect = CALLING_DIALECT in scope
        needed: Need | None = None
        family = speaks_for = frozenset[str]()
        if principal is not None and not traits.is_open and ADMIN not in principal.scopes:
            needed = self._policy.need(kind, method, path, by_dialect=by_dialect)
            principal = await self._with_grants(principal, needed, headers.chat)
            family, speaks_for = await self._chats(needed, headers.chat)
        facts = RequestFacts(
            kind=kind,
            method=method,
            path=path,
            scheme="https" if scope["scheme"] in ("https", "wss") else "http",
            host=headers.host,
            origin=headers.origin,
            sec_fetch_site=headers.sec_fetch_site,
            content_type=headers.content_type,
            has_body=headers.has_body,
            credential=proof,
            principal=principal,
            family=family,
            speaks_for=speaks_for,
            by_dialect=by_dialect,
        )
        return facts, needed

    async def _credentials_of(
        self, scope: Scope, headers: RequestHeaders, traits: PathTraits
    ) -> Sequence[tuple[Proof, Principal | None]]:
        """Return the credential of a request, or one for each session of its browser."""
        # An explicit credential precedes the cookie, which a browser adds unasked: a wrong token
        # must not fall back to the rights of the session.
        if traits.dialect:
            token = dialect_token(headers.authorization)
            # Neither a cookie, which a page could use, nor a ticket, which opens the live view.
            if token is None:
                return [("none", None)]
            return [("bearer", await self._credentials.find_token(token))]
        token = bearer_of(headers.authorization)
        if token is not None:
            return [("bearer", await self._credentials.find_token(token))]
        if not traits.is_open and (scope["type"] == "websocket" or scope["method"] == "GET"):
            # Browsers cannot set headers of a WebSocket's handshake or a download, hence a
            # parameter. A ticket works once, so its copies in logs and histories are worthless.
            ticket = QueryParams(scope["query_string"]).get("ticket")
            if ticket is not None:
                return [("ticket", await self._credentials.by_ticket(ticket))]
        return await self._sessions(headers) or [("none", None)]

    async def _sessions(self, headers: RequestHeaders) -> Sequence[tuple[Proof, Principal | None]]:
        """Return the session whose page key the request has; else all, by their cookies alone."""
        known = self._credentials
        cookies = [
            cookie
            for name in known.cookie_names
            if (cookie := cookie_of(headers.cookie, name)) is not None
        ]
        for cookie in cookies if headers.page_key is not None else ():
            if known.page_keys.fits(cookie, headers.page_key or ""):
                return [("session", await known.find_cookie(cookie))]
        return [("cookie", await known.find_cookie(cookie)) for cookie in cookies]

    async def _with_grants(
        self, principal: Principal, needed: Need | None, chat: str | None
    ) -> Principal:
        """Add the scopes that a person has for what the request concerns."""
        if not principal.person:
            return principal
        wanted = [needed] if needed is not None else []
        if chat is not None:
            wanted.append(Need("chat", chat, "control"))
        granted = [scope for one in wanted for scope in await self._grants(principal, one)]
        return replace(principal, scopes=(*principal.scopes, *granted))

    async def _chats(
        self, needed: Need | None, chat: str | None
    ) -> tuple[frozenset[str], frozenset[str]]:
        """Return the chats that a request concerns, and those in whose name its caller speaks."""
        family = speaks_for = frozenset[str]()
        if needed is not None and needed.kind in ("chat", "file"):
            family = await self._owning_chats(needed.kind, needed.id)
        if chat is not None:
            speaks_for = frozenset((chat,)) | await self._owning_chats("chat", chat)
        return family, speaks_for

    async def _refuse(
        self,
        refusal: Denial,
        facts: RequestFacts,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        # Cookies and tickets end in normal use, so their holders do not wait. A token is wrong only
        # by mistake or by guessing.
        if refusal.wrong_credential and facts.credential == "bearer":
            await asyncio.sleep(self._delay)
        if scope["type"] == "websocket":
            await refuse_websocket(scope, receive, send, refusal)
        # A person who opens a page gets the sign-in instead of JSON. 303 makes the browser use GET.
        elif refusal.status == 401 and _wants_page(scope) and _may_go_on(facts):
            query = [
                pair
                for pair in scope["query_string"].decode("latin-1").split("&")
                if pair and not pair.startswith("ticket=")
            ]
            target = quote(scope["path"] + (f"?{'&'.join(query)}" if query else ""), safe="/")
            # Relative, as a proxy may serve all below a path of its own.
            location = f"{root_of(scope['path'])}/login?next={target}"
            response = Response(status_code=303, headers={"Location": location})
            await response(scope, receive, send)
        else:
            page = _wants_page(scope) and self._error_pages(refusal.status, Request(scope))
            await (page or _answer(refusal))(scope, receive, send)


def root_of(path: str) -> str:
    """Return the relative address of the root for a page at ``path``, as ``./..``."""
    return "/".join([".", *[".."] * (path.count("/") - 1)])


def _add_chat_header(scope: Scope, chats: Sequence[str]) -> None:
    """Name the chat that the credential is bound to in a request that names none."""
    if chats:
        named = (caller_headers.OWN_CHAT.encode(), chats[0].encode())
        scope["headers"] = [*scope["headers"], named]


def _set_bearer(scope: Scope, headers: RequestHeaders, dialect: str) -> None:
    """Replace the credential of a dialect's client by the same token as a bearer token."""
    scope[CALLING_DIALECT] = dialect
    others = [pair for pair in scope["headers"] if pair[0] != b"authorization"]
    token = dialect_token(headers.authorization) or ""
    scope["headers"] = [*others, (b"authorization", f"Bearer {token}".encode())]


def _wants_page(scope: Scope) -> bool:
    """Return whether a person has opened an address."""
    return scope["method"] == "GET" and "text/html" in Headers(scope=scope).get("accept", "")


def _may_go_on(facts: RequestFacts) -> bool:
    """Return whether a person goes on to an address after the sign-in page.

    An address of the API is opened by people who have followed or reloaded a link to a file.
    """
    return not facts.path.startswith("/api/") or facts.credential in ("cookie", "ticket")


def _answer(refusal: Denial) -> JSONResponse:
    body = {"message": refusal.message}
    if refusal.detail:
        body["detail"] = refusal.detail
    headers = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else None
    return JSONResponse(body, refusal.status, headers)


async def refuse_websocket(scope: Scope, receive: Receive, send: Send, refusal: Denial) -> None:
    """Refuse the handshake of a WebSocket with an HTTP response, if the server supports that."""
    # Without the extension ASGI permits only a close, which the server answers with 403.
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": REFUSED, "reason": refusal.message})
        return
    body = json.dumps({"message": refusal.message, "detail": refusal.detail}).encode()
    await send(
        {
            "type": "websocket.http.response.start",
            "status": refusal.status,
            "headers": [(b"content-type", b"application/json")],
        }
    )
    await send({"type": "websocket.http.response.body", "body": body})


def _bounded(receive: Receive, limit: int) -> Receive:
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > limit:
                raise BodyTooLarge(limit)
        return message

    return counted


def _with_patience(receive: Receive, seconds: float) -> Receive:
    """Return the same messages; refuse a body that no byte comes of for ``seconds``."""
    complete = False

    async def awaited() -> Message:
        nonlocal complete
        # After the body the next message is the end of the connection, which may be far away.
        if complete:
            return await receive()
        try:
            async with asyncio.timeout(seconds):
                message = await receive()
        except TimeoutError:
            raise SilentBody(seconds) from None
        complete = not message.get("more_body", False)
        return message

    return awaited


def install_auth(
    app: FastAPI,
    gate: AccessPolicy,
    credentials: Credentials,
    *,
    secure: bool = False,
    kin: OwningChats = owned_by_none,
    operations: Operations | None = None,
    error_pages: ErrorPages = no_error_pages,
    grants: Grants = nothing_granted,
) -> None:
    """Add access control to an application, with the login routes and the form of its errors.

    The OpenAPI document of the application then describes what ``operations`` returns, and lists
    all routes. A person who opens an address gets one of the ``error_pages`` where there is one.
    """
    add_routes(app, login_router(credentials, secure))
    complete_openapi(app, operations)

    async def http_error(request: Request, error: Exception) -> Response:
        refused = cast(StarletteHTTPException, error)
        page = _wants_page(request.scope) and error_pages(refused.status_code, request)
        return page or _http_error(refused)

    app.add_exception_handler(StarletteHTTPException, http_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_middleware(
        AuthMiddleware,
        gate=gate,
        credentials=credentials,
        kin=kin,
        error_pages=error_pages,
        grants=grants,
    )


def _http_error(refused: StarletteHTTPException) -> Response:
    detail: Any = refused.detail
    body = detail if isinstance(detail, dict) else {"message": str(detail)}
    return JSONResponse(body, refused.status_code, refused.headers)


async def _validation_error(_: Request, error: Exception) -> Response:
    found = [
        # The first item of ``loc`` is the part of the request, as ``body``: the rest is the field.
        {"field": ".".join(str(part) for part in item["loc"][1:]), "detail": item["msg"]}
        for item in cast(RequestValidationError, error).errors()
    ]
    summary = "; ".join(f"{item['field']}: {item['detail']}" for item in found)
    return JSONResponse(
        {"message": "Request is not valid.", "detail": summary, "validations": found}, 400
    )
