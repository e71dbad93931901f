"""The HTTP routes of the lease."""

from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any, Literal

from fastapi import (
    APIRouter,
    HTTPException,
    Query,
    Request,
    WebSocket,
    WebSocketDisconnect,
)
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from deskhand.desktop.errors import NotInControl
from deskhand.vncbridge.errors import ClientGone
from deskhand.vncbridge.http import caller_headers
from deskhand.vncbridge.http.disconnect import disconnected, run_unless
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .access import control_key
from .lease import Person
from .runtime import LeaseRuntime

Json = dict[str, Any]
PATH = "/api/v0/desktop/lease"
PAUSE = "/api/v0/desktop/pause"
LONGEST_PAUSE = 600.0
"""Seconds; a longer pause is renewed, so that none outlasts the program that wants it."""
LONGEST_WAIT = 60.0
VIEWERS_INTERVAL = 2.0
"""Seconds between two readings of the number of viewers, which changes without a revision."""

Name = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=60, pattern=r"^[^\x00-\x1f]+$"
    ),
]
Key = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


_NAMED: Json = {
    "if": {"properties": {"action": {"enum": ["request", "take"]}}},
    "then": {"required": ["name"], "properties": {"name": {"type": "string"}}},
}
"""Schema of the rule that only a person with a name takes control."""


class LeaseCall(BaseModel):
    """A request for a change of the lease."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_NAMED)

    action: Literal["request", "take", "release", "renew"]
    name: Name | None = None
    """A label for other people."""
    viewer: Key | None = None
    """Key of the page or program that acts, as in the VNC stream's parameter; default: the name."""
    private: bool = True
    force: bool = False


class PauseCall(BaseModel):
    """A request for a pause of the agent's programs."""

    model_config = ConfigDict(extra="forbid")

    seconds: Annotated[float, Field(ge=0, le=LONGEST_PAUSE)]
    """Duration, counted from now; 0 ends a pause."""


def router(
    control: LeaseRuntime, viewers: Callable[[], int], forcing_allowed: Callable[[Request], bool]
) -> APIRouter:
    """Return the routes; ``forcing_allowed`` decides whether a caller may end others' control."""
    routes = LazyRouter(tags=["desktop"])

    def state(**more: bool) -> Json:
        return {**more, **control.state(), "watchers": viewers()}

    @routes.get(PATH)
    async def lease(
        revision: int | None = None,
        wait: Annotated[float, Query(ge=0, le=LONGEST_WAIT)] = 0.0,
    ) -> Json:
        """Who is in control; with `revision` and `wait` when that changes."""
        if revision is not None and wait:
            await control.changed(revision, wait)
        return state()

    @routes.post(PATH)
    async def change(call: LeaseCall, request: Request) -> Json:
        """Take control, ask for it, keep it or give it back."""
        if call.force and not forcing_allowed(request):
            raise _refused()
        call = _named(call, request)
        if call.action in ("take", "request"):
            return state(granted=_take(control, call))
        chat = caller_headers.value(request.headers, caller_headers.CHAT)
        _renew_or_release(control, call, chat)
        return state()

    @routes.delete(PATH)
    async def end(request: Request, name: Name | None = None, viewer: Key | None = None) -> Json:
        """Take control from its present holder; for those who have it, and administrators."""
        name = caller_headers.person(request.headers) or name
        if not control.holds_control(control_key(name, viewer)) and not forcing_allowed(request):
            raise _refused()
        control.end()
        return state()

    @routes.websocket(f"{PATH}/watch")
    async def watch(websocket: WebSocket) -> None:
        """Send the lease with every change; `you` is true while `viewer` has control."""
        key = control_key(None, websocket.query_params.get("viewer"))
        await websocket.accept()
        with suppress(ClientGone):
            # Only receiving reports that the client has gone, and `_send` may send nothing for
            # hours.
            await run_unless(_send(websocket, control, key, state), disconnected(websocket.receive))

    return routes


def pause_router(control: LeaseRuntime, forcing_allowed: Callable[[Request], bool]) -> APIRouter:
    """Return the route of pauses, which administrators may call."""
    routes = LazyRouter(tags=["desktop"])

    @routes.post(PAUSE)
    async def pause(call: PauseCall, request: Request) -> Json:
        """Stop the agent's programs for a while, until an agent acts or a person takes control."""
        if not forcing_allowed(request):
            raise _refused()
        control.pause(call.seconds)
        return {"paused": control.paused}

    return routes


async def _send(
    websocket: WebSocket, lease: LeaseRuntime, key: str, state: Callable[[], Json]
) -> None:
    sent: Json = {}
    # Starlette raises RuntimeError for a message on a connection that was closed meanwhile.
    with suppress(WebSocketDisconnect, RuntimeError):
        while True:
            present = {**state(), "you": lease.holds_control(key)}
            if _compared(present) != _compared(sent):
                await websocket.send_json(present)
                sent = present
            # The revision is that of the sent state, so that a change during the send counts.
            await lease.changed(present["revision"], VIEWERS_INTERVAL)


def _compared(state: Json) -> Json:
    """Return the fields whose change is sent; the others, such as seconds, always change."""
    return {key: state.get(key) for key in ("revision", "watchers", "you", "stopped")}


def _named(call: LeaseCall, request: Request) -> LeaseCall:
    """Return the call in the name of the person who has signed in, who acts under no other."""
    person = caller_headers.person(request.headers)
    return call.model_copy(update={"name": person}) if person else call


def may_force(request: Request) -> bool:
    """Return whether an administrator calls, and not another user through a control plane."""
    # A control plane calls with its own administrator's token for all its users, and names the
    # user's role in a header. Without the header the token alone decides.
    principal = request.scope.get("state", {}).get("principal")
    role = caller_headers.role(request.headers, "admin")
    return principal is not None and "admin" in principal.scopes and role == "admin"


def _take(lease: LeaseRuntime, call: LeaseCall) -> bool:
    if not call.name:
        raise HTTPException(400, {"message": '"name" is needed to take control.'})
    return lease.take(
        Person(call.name, control_key(call.name, call.viewer)),
        private=call.private,
        take_over_on_timeout=call.action == "take",
        force=call.force,
    )


def _renew_or_release(lease: LeaseRuntime, call: LeaseCall, chat: str) -> None:
    person = call.name or call.viewer
    # A header identifies a chat, so that it releases without a name.
    if call.action == "release" and chat and not person:
        lease.release_chat(chat)
        return
    act = lease.release if call.action == "release" else lease.renew
    try:
        act(control_key(call.name, call.viewer))
    except NotInControl as error:
        body = {"message": "You are not in control.", "detail": str(error)}
        raise HTTPException(409, body) from error


def _refused() -> HTTPException:
    return HTTPException(403, {"message": "Only an administrator may force."})
