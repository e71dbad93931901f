"""Routes of the sign-in by a provider.

``GET /login/oidc`` sends the browser to the provider, which sends it back to the callback. The
state of a sign-in is bound to the browser by a cookie, so that no link signs a person in as
another one, and nothing else is kept of one that was only begun. Any control plane of the
database answers the callback. Only a script can keep the key of a session for its origin, so the
callback answers with a page that goes on to the sign-in page, with a login code in the fragment.
"""

import html
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Protocol
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from deskhand.tools.people.errors import IdentityTaken, NameTaken
from deskhand.tools.people.people import People, RegisteredPerson
from deskhand.vncbridge.auth.credentials import Credentials
from deskhand.vncbridge.auth.people import PersonRole
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .claims import identity_of, name_of, role_of
from .errors import NoRole, OidcError, ProviderFailed, SignInRefused
from .sign_in_secret import SignInSecret
from .used_sign_ins import UsedSignIns

PATH = "/login/oidc"
CALLBACK = f"{PATH}/callback"
COOKIE = "deskhand_oidc"
BEGUN_SECONDS = 600.0
NAMED_BY = "OpenID Connect"
MOST_NAMESAKES = 100


class Provider(Protocol):
    """A provider; ``deskhand.tools.oidc.provider.OidcProvider`` outside of tests."""

    async def authorization_url(
        self, redirect_uri: str, state: str, nonce: str, verifier: str
    ) -> str:
        """Return the address at which a person signs in."""

    async def claims(
        self, code: str, redirect_uri: str, nonce: str, verifier: str
    ) -> Mapping[str, Any]:
        """Return the claims about the person to whom the provider gave a code."""


@dataclass(frozen=True)
class OidcRules:
    """Which groups have which role, and the claim that has the groups."""

    roles: Mapping[str, PersonRole]
    groups: str = "groups"
    public_url: str = ""
    """Address of the pages, if it is not that of the requests."""


def router(
    provider: Provider,
    rules: OidcRules,
    people: People,
    credentials: Credentials,
    used: UsedSignIns,
    seconds: float = BEGUN_SECONDS,
) -> APIRouter:
    """Return the routes; a sign-in is over ``seconds`` after its begin."""
    routes = LazyRouter(include_in_schema=False)

    @routes.get(PATH)
    async def begin(request: Request, onward: Annotated[str, Query(alias="next")] = "") -> Response:
        ends_at = await used.now() + seconds
        target = _callback(request, rules)
        secret = SignInSecret.begun(secrets.token_urlsafe(48), ends_at, onward, target)
        try:
            address = await provider.authorization_url(
                target, secret.state, secret.nonce, secret.verifier
            )
        except OidcError as error:
            return _refused(error)
        response = RedirectResponse(address, 303)
        secure = request.scope["scheme"] == "https"
        response.set_cookie(
            COOKIE,
            secret.value,
            max_age=int(seconds),
            httponly=True,
            samesite="lax",
            secure=secure,
        )
        return response

    @routes.get(CALLBACK)
    async def callback(request: Request, state: str = "", code: str = "") -> Response:
        held = SignInSecret(request.cookies.get(COOKIE, ""))
        try:
            if held.state != state or held.ends_at <= await used.now() or not code:
                raise SignInRefused("This browser has not begun this sign-in, or too long ago.")
            claims = await provider.claims(code, held.redirect_uri, held.nonce, held.verifier)
            if not await used.use(state, held.ends_at):
                raise SignInRefused("This sign-in has been used.")
            person = await _person(people, credentials, claims, rules)
        except OidcError as error:
            return _refused(error)
        login_code = await credentials.new_code(person.id)
        onward = f"login?next={quote(held.onward)}#code={login_code}"
        response = HTMLResponse(
            _page("You are signed in.", onward), headers={"Cache-Control": "no-store"}
        )
        response.delete_cookie(COOKIE)
        return response

    return routes


async def _person(
    people: People, credentials: Credentials, claims: Mapping[str, Any], rules: OidcRules
) -> RegisteredPerson:
    """Return the person of these claims, with the role of the groups; a new one is added."""
    role = role_of(claims.get(rules.groups), rules.roles)
    identity = identity_of(claims)
    if role is None:
        raise NoRole(f"No group of {name_of(claims)} has a role here.")
    known = people.by_identity(identity)
    if known is None:
        known = await _added(people, name_of(claims), role, identity)
    if known.role != role:
        known = await people.set_role(known.id, role)
        await credentials.end_streams(known.id)
    return known


async def _added(people: People, name: str, role: PersonRole, identity: str) -> RegisteredPerson:
    for number in range(1, MOST_NAMESAKES):
        try:
            shown = name if number == 1 else f"{name[:50].strip()} {number}"
            return await people.add(shown, role, NAMED_BY, identity)
        except NameTaken:
            continue
        except IdentityTaken:
            # Another control plane has just added this person.
            await people.refresh()
            known = people.by_identity(identity)
            if known is not None:
                return known
    raise SignInRefused(f"Too many people have the name {name}.")


def _callback(request: Request, rules: OidcRules) -> str:
    host = request.headers.get("host", "")
    return (rules.public_url or f"{request.scope['scheme']}://{host}").rstrip("/") + CALLBACK


def _refused(error: OidcError) -> Response:
    status = 502 if isinstance(error, ProviderFailed) else 403
    return HTMLResponse(_page(str(error)), status)


def _page(words: str, onward: str | None = None) -> str:
    target = html.escape(f"../../{onward or 'login'}")
    refresh = "" if onward is None else f'<meta http-equiv="refresh" content="0; url={target}">'
    link = "Back to the sign-in" if onward is None else "Go on"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8">{refresh}<title>Sign in · Deskhand'
        f'</title><h1>{html.escape(words)}</h1><p><a href="{target}">{link}</a></p></html>'
    )
