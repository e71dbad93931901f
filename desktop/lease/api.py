"""The HTTP routes of the lease."""

import asyncio
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
from pydantic import BaseModel, ConfigDict, StringConstraints

from deskhand.desktop.errors import NotInControl
from deskhand.desktop.tool_calls.caller import CHAT, header

from .access import key_of
from .lease import Person
from .runtime import LeaseRuntime

Json = dict[str, Any]
PATH = "/api/v0/desktop/lease"
LONGEST_WAIT = 60.0
WATCHERS_SECONDS = 2.0

Name = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=60, pattern=r"^[^\x00-\x1f]+$"
    ),
]
Key = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class LeaseCall(BaseModel):
    """What somebody wants of the lease."""

    model_config = ConfigDict(extra="forbid")

    action: Literal["request", "take", "release", "renew"]
    name: Name | None = None
    """For people to read."""
    viewer: Key | None = None
    """Which page or program acts, as of the VNC stream's parameter; by default the name."""
    private: bool = True
    force: bool = False


def router(
    leasing: LeaseRuntime, watchers: Callable[[], int], rules: Callable[[Request], bool]
) -> APIRouter:
    """Return the routes; ``rules`` says whether a caller may take control from others."""
    routes = APIRouter(tags=["desktop"])

    def told(**more: bool) -> Json:
        return {**more, **leasing.state(), "watchers": watchers()}

    @routes.get(PATH)
    async def lease(
        revision: int | None = None,
        wait: Annotated[float, Query(ge=0, le=LONGEST_WAIT)] = 0.0,
    ) -> Json:
        """Who is in control; with `revision` and `wait` when that changes."""
        if revision is not None and wait:
            await leasing.changed(revision, wait)
        return told()

    @routes.post(PATH)
    async def change(call: LeaseCall, request: Request) -> Json:
        """Take control, ask for it, keep it or give it back."""
        if call.force and not rules(request):
            raise _refused()
        if call.action in ("take", "request"):
            return told(granted=_take(leasing, call))
        _keep_or_end(leasing, call, header(request.headers, CHAT))
        return told()

    @routes.delete(PATH)
    async def end(request: Request, name: Name | None = None, viewer: Key | None = None) -> Json:
        """Take control from whoever has it; for those who have it, and administrators."""
        if not leasing.holds_control(key_of(name, viewer)) and not rules(request):
            raise _refused()
        leasing.end()
        return told()

    @routes.websocket(f"{PATH}/watch")
    async def watch(websocket: WebSocket) -> None:
        """Send the lease whenever it changes; `you` says whether `viewer` has it."""
        key = key_of(None, websocket.query_params.get("viewer"))
        await websocket.accept()
        telling = asyncio.create_task(_tell(websocket, leasing, key, told), name="lease watch")
        leaving = asyncio.create_task(_left(websocket), name="lease watcher left")
        try:
            done, _ = await asyncio.wait((telling, leaving), return_when=asyncio.FIRST_COMPLETED)
            done.pop().result()
        finally:
            telling.cancel()
            leaving.cancel()
            await asyncio.gather(telling, leaving, return_exceptions=True)

    return routes


async def _tell(
    websocket: WebSocket, leasing: LeaseRuntime, key: str, told: Callable[[], Json]
) -> None:
    said: Json = {}
    with suppress(WebSocketDisconnect, RuntimeError):
        while True:
            state = {**told(), "you": leasing.holds_control(key)}
            if _lasting(state) != _lasting(said):
                await websocket.send_json(state)
                said = state
            # Who watches is no change of the lease, so it is looked at from time to time.
            await leasing.changed(state["revision"], WATCHERS_SECONDS)


def _lasting(state: Json) -> Json:
    """Leave out what changes by itself."""
    return {key: state.get(key) for key in ("revision", "watchers", "you")}


async def _left(websocket: WebSocket) -> None:
    while (await websocket.receive())["type"] != "websocket.disconnect":
        pass


def may_force(request: Request) -> bool:
    """Return whether an administrator asks, and not somebody for whom one passes it on."""
    principal = request.scope.get("state", {}).get("principal")
    passed_on = request.headers.get("deskhand-role", "admin")
    return principal is not None and "admin" in principal.scopes and passed_on == "admin"


def _take(leasing: LeaseRuntime, call: LeaseCall) -> bool:
    if not call.name:
        raise HTTPException(400, {"message": '"name" is needed to take control.'})
    return leasing.take(
        Person(call.name, key_of(call.name, call.viewer)),
        private=call.private,
        insists=call.action == "take",
        force=call.force,
    )


def _keep_or_end(leasing: LeaseRuntime, call: LeaseCall, chat: str) -> None:
    named = call.name or call.viewer
    if call.action == "release" and chat and not named:
        leasing.release_chat(chat)
        return
    act = leasing.release if call.action == "release" else leasing.renew
    try:
        act(key_of(call.name, call.viewer))
    except NotInControl as error:
        said = {"message": "You are not in control.", "detail": str(error)}
        raise HTTPException(409, said) from error


def _refused() -> HTTPException:
    return HTTPException(403, {"message": "Only an administrator may force."})
