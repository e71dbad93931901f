"""Routes of desktops: list, start and stop them."""

import contextlib
from collections.abc import Sequence

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from deskhand.desktop.network.egress import EgressPolicy
from deskhand.desktop.network.errors import InvalidEgress
from deskhand.desktop.settings import DIALECTS, dialects
from deskhand.tools.control_plane.caller import limited_person
from deskhand.tools.control_plane.errors import BadBody
from deskhand.tools.control_plane.json_body import Json, json_object, only, text
from deskhand.tools.control_plane.ports import Chats, Desktops, DesktopView
from deskhand.tools.conversation.chat_start import profile_name
from deskhand.tools.fleet.errors import UnknownDesktop
from deskhand.tools.templates.errors import TemplateError
from deskhand.vncbridge.auth.middleware import Grants, nothing_granted
from deskhand.vncbridge.auth.scopes import Need
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .chats import PROFILE, body_of

LONGEST_NAME = 80
MOST_GRANTS = 64
_NEW_DESKTOP = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "name": {"type": ["string", "null"], "maxLength": LONGEST_NAME},
        "speak": {"type": "array", "items": {"type": "string", "enum": list(DIALECTS)}},
        "template": {"type": ["string", "null"], "maxLength": LONGEST_NAME},
        "profile": PROFILE,
        "grants": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_GRANTS},
    },
}


def router(
    desktops: Desktops,
    chats: Chats,
    grants: Grants = nothing_granted,
    egress: EgressPolicy | None = None,
) -> APIRouter:
    """Return the routes of ``/api/v0/desktops``; the proxy serves the paths below an id.

    ``grants`` are the rights of people, ``egress`` is that of new desktops.
    """
    routes = LazyRouter(prefix="/api/v0/desktops", tags=["desktops"])

    @routes.get("")
    async def listing(request: Request) -> JSONResponse:
        """List the desktops.

        `browser_warning` states why a desktop's browser does not start or has no sandbox; it is
        empty otherwise. `missing_protections` names each protection that a desktop lacks, with the
        reason. `egress` is what it may reach over the network: `mode`, the names of a list
        (`allow`), `grants`, and with `because` why it is open against the default.
        `has_display` is false until the display of a chat's desktop is used: a screenshot or the
        live view starts it. `speak` are the protocols of other products that it serves.
        """
        found = await _visible(await desktops.list(), request, grants)
        return JSONResponse({"desktops": [desktop_json(desktop) for desktop in found]})

    @routes.post("", status_code=201, openapi_extra=body_of(_NEW_DESKTOP))
    async def start(request: Request) -> JSONResponse:
        """Start a desktop and answer when it is ready.

        `speak` are the protocols of other products that it serves, by default those of the setting.
        `template` is the name of a file in the folder `templates` of the data directory. `profile`
        is the name of a profile of the browser, which one desktop at a time can have (409).
        `grants` are addresses of this machine, such as `127.0.0.1:3000`, that the desktop may reach
        besides those of the setting `egress_grants`; none is the control plane's own.
        """
        body = json_object(await request.body())
        given = _grants(body)
        started = await _started(desktops, body, egress or EgressPolicy(), given)
        if given:
            request.state.started_desktop = {"desktop": started.id, "grants": given}
        return JSONResponse(desktop_json(started), 201)

    @routes.get("/{desktop_id}")
    async def one(desktop_id: str) -> JSONResponse:
        """Show one desktop."""
        # The port has no way to get one desktop; a machine has few of them.
        for desktop in await desktops.list():
            if desktop.id == desktop_id:
                return JSONResponse(desktop_json(desktop))
        raise UnknownDesktop(desktop_id)

    @routes.delete("/{desktop_id}", status_code=204)
    async def stop(desktop_id: str) -> Response:
        """End a desktop; the chats that work on it are stopped, their recordings stored."""
        # Checked first: an unknown desktop would pass as one that the chats have ended.
        if all(desktop.id != desktop_id for desktop in await desktops.list()):
            raise UnknownDesktop(desktop_id)
        await chats.release_desktop(desktop_id)
        # If it was a chat's own desktop, stopping the chat has ended it already.
        with contextlib.suppress(UnknownDesktop):
            await desktops.stop(desktop_id)
        return Response(status_code=204)

    return routes


def desktop_json(desktop: DesktopView) -> Json:
    """Return the JSON of a desktop."""
    return {
        "id": desktop.id,
        "name": desktop.name,
        "status": desktop.status,
        "chat_id": desktop.chat_id,
        "created_at": desktop.created_at,
        "live_url": desktop.live_url,
        "level": desktop.level,
        "pid": desktop.pid,
        "browser_warning": desktop.browser_warning,
        "missing_protections": list(desktop.missing_protections),
        "has_display": desktop.has_display,
        "egress": desktop.egress,
        "speak": list(desktop.speak),
        "profile": desktop.profile or None,
    }


async def _visible(
    found: Sequence[DesktopView], request: Request, grants: Grants
) -> Sequence[DesktopView]:
    """Return the desktops that the caller may see."""
    if not limited_person(request.scope):
        return found
    asker = request.scope["state"]["principal"]
    return [one for one in found if await grants(asker, Need("desktop", one.id, "view"))]


async def _started(
    desktops: Desktops, body: Json, policy: EgressPolicy, grants: Sequence[str]
) -> DesktopView:
    only(body, "name", "speak", "template", "profile", "grants")
    name = (text(body, "name", longest=LONGEST_NAME) or "").strip()
    chosen = _chosen(body, policy, grants)
    try:
        return await desktops.start(name or None, speak=_speak(body), **chosen)
    except TemplateError as error:
        raise BadBody("template cannot be used.", f"{error}.") from error


def _grants(body: Json) -> list[str]:
    found = body.get("grants", [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise BadBody("grants must be a list of texts.", 'An example is ["127.0.0.1:3000"].')
    if len(found) > MOST_GRANTS:
        raise BadBody("grants is too long.", f"It has {len(found)} addresses of {MOST_GRANTS}.")
    return found


def _chosen(body: Json, policy: EgressPolicy, grants: Sequence[str]) -> Json:
    """Return the settings of a new desktop that are not those of every one."""
    chosen: Json = {}
    if template := (text(body, "template", longest=LONGEST_NAME) or "").strip():
        chosen["template"] = template
    if profile := profile_name(text(body, "profile", longest=LONGEST_NAME) or None):
        chosen["profile"] = profile
    try:
        return chosen | ({"egress": policy.with_grants(grants)} if grants else {})
    except InvalidEgress as error:
        raise BadBody("grants cannot be given.", f"{error}.".removeprefix("egress: ")) from error


def _speak(body: Json) -> tuple[str, ...] | None:
    if "speak" not in body:
        return None
    try:
        return dialects(body["speak"])
    except (TypeError, ValueError) as error:
        raise BadBody("speak must be a list of dialects.", f"{error}.") from error
