"""Routes with which people give secrets to agents; no route returns a value."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from deskhand.tools.control_plane.errors import BadBody
from deskhand.tools.control_plane.json_body import Json, flag, json_object, needed_text, only
from deskhand.tools.secrets.secret import KINDS, Secret, SecretKind, rotated
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .chats import NON_BLANK_TEXT, body_of

# A shorter value would be redacted in the middle of ordinary words.
SHORTEST, LONGEST = 4, 10_000
MOST_CHATS = 1000
MOST_DOMAINS = 16
BODY = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "value": {**NON_BLANK_TEXT, "minLength": SHORTEST, "maxLength": LONGEST},
        "kind": {
            "enum": list(KINDS),
            "description": "totp if the value is an otpauth://totp/ address, as the QR code of a "
            "site has it: the current one-time code is typed. Otherwise text.",
        },
        "chats": {"type": ["array", "null"], "items": {"type": "string"}, "maxItems": MOST_CHATS},
        "domains": {
            "type": ["array", "null"],
            "items": {"type": "string", "examples": ["mail.example"]},
            "minItems": 1,
            "maxItems": MOST_DOMAINS,
            "description": "Their pages are admitted with https; with http only those of an entry "
            "that begins with http://, as http://intranet.example.",
        },
        "anywhere": {
            "type": "boolean",
            "description": "True states that it may be typed into any application; without it, "
            "domains are needed.",
        },
        "any_field": {
            "type": "boolean",
            "description": "True states that with domains it may be typed into any field of their "
            "pages; without it, into fields of a sign-in.",
        },
        "without_execute": {
            "type": "boolean",
            "description": "True restricts it to chats that cannot run programs.",
        },
    },
    "required": ["value"],
}


class SecretAdministration(Protocol):
    """Port to the secrets; ``OwnSecrets`` and ``SharedSecrets`` implement it."""

    def listed(self) -> Sequence[Secret]:
        """Return all secrets by name."""

    async def put(self, secret: Secret) -> None:
        """Store a secret, replacing one of the same name."""

    async def remove(self, name: str) -> None:
        """Remove a secret."""


def router(
    secrets: SecretAdministration, check_room: Callable[[], Awaitable[None]] | None = None
) -> APIRouter:
    """Return the routes under ``/api/v0/secrets``; only administrators reach them.

    ``check_room`` raises `DiskLow` if nothing new is stored.
    """
    routes = LazyRouter(prefix="/api/v0/secrets", tags=["secrets"])

    @routes.get("")
    async def listing() -> JSONResponse:
        """List the names of the secrets and whom they were given to, never what they are."""
        return JSONResponse({"secrets": [_secret_json(secret) for secret in secrets.listed()]})

    @routes.put("/{name}", openapi_extra=body_of(BODY))
    async def put(name: str, request: Request) -> JSONResponse:
        """Give agents a secret that they can type and cannot read; a second time is its rotation.

        At a rotation the fields that are not given stay as they were.
        ``chats`` may type it, and those below them; without it all chats may. It may be typed only
        into pages of ``domains``, and is refused where the page cannot be determined. There it goes
        into fields of a sign-in only, unless ``"any_field": true`` permits any field. In place of
        domains, ``"anywhere": true`` permits any application, for values of 8 characters or more.
        Of the kind ``totp`` the current one-time code is typed; its value is an ``otpauth://totp/``
        address.
        From now on the value is masked in the steps and results of chats that may type it, and in
        all recordings and logs.
        """
        body = json_object(await request.body())
        only(body, "value", "kind", "chats", "domains", "anywhere", "any_field", "without_execute")
        value = needed_text(body, "value", longest=LONGEST)
        # Fields that are absent keep the rules of a secret that is rotated.
        several = {"chats": ("chats' ids", MOST_CHATS), "domains": ("domains", MOST_DOMAINS)}
        rules: dict[str, Any] = {
            one: _several(body, one, *limits) for one, limits in several.items() if one in body
        }
        flags = ("anywhere", "any_field", "without_execute")
        rules |= {one: flag(body, one) for one in flags if one in body}
        if "kind" in body:
            rules["kind"] = _kind(body["kind"])
        if check_room is not None:
            await check_room()
        known = {one.name: one for one in secrets.listed()}
        secret = rotated(known.get(name, Secret(name, value)), value, rules)
        await secrets.put(secret)
        return JSONResponse(_secret_json(secret))

    @routes.delete("/{name}", status_code=204)
    async def remove(name: str) -> Response:
        """Take a secret back; what was written stays masked."""
        await secrets.remove(name)
        return Response(status_code=204)

    return routes


def _kind(wanted: object) -> SecretKind:
    for kind in KINDS:
        if kind == wanted:
            return kind
    raise BadBody(f"kind must be {' or '.join(KINDS)}.")


def _several(body: Json, name: str, what: str, most: int) -> tuple[str, ...] | None:
    wanted = body.get(name)
    if wanted is None:
        return None
    if not isinstance(wanted, list) or not all(isinstance(one, str) for one in wanted):
        raise BadBody(f"{name} must be a list of {what}.")
    if len(wanted) > most:
        raise BadBody(f"{name} has {len(wanted)} entries of {most}.")
    return tuple(wanted)


def _secret_json(secret: Secret) -> Json:
    # The value is left out. ``None`` (no limit) and an empty list (no chat at all) stay distinct.
    given = {"chats": secret.chats, "domains": secret.domains}
    return {
        "name": secret.name,
        "kind": secret.kind,
        **{name: None if several is None else list(several) for name, several in given.items()},
        "anywhere": secret.anywhere,
        "any_field": secret.any_field,
        "without_execute": secret.without_execute,
        "state": secret.state,
    }
