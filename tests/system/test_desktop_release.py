"""Nothing stays pressed, however an action or a turn ends; the X server is asked."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from websockets.asyncio.client import ClientConnection, connect

from bench.requests_by_schema import Asked, operations, requests
from bench.soak_api import ask
from deskhand.desktop.lease.api import PATH as LEASE
from deskhand.desktop.lease.lease import IDLE_PERSON
from deskhand.desktop.lease.runtime import LeaseRuntime
from deskhand.desktop.x11 import connection as xconnection
from deskhand.vncbridge.rfb import proxy as relay
from deskhand.vncbridge.rfb.viewers import Viewers
from tests.system.displays import display
from tests.system.services import Service, client, until, x_display
from tests.system.watching import effects, handshake, played, stream, ticket
from tests.vncbridge import fakes
from tests.vncbridge.rfb.client_messages import encodings, key, pointer

pytestmark = pytest.mark.x11

HOLD = {"action": "hold_key", "text": "ctrl+shift+a", "duration": 100}
DRAG = {"action": "left_click_drag", "path": [[10, 10], [600, 500]], "duration": 100, "text": "alt"}


# Xvnc takes a small letter with Shift as a sign of Caps Lock, and switches that on.
HELD = encodings(0) + key(0xFFE1) + key(ord("A")) + pointer(1)
TAKE = {"action": "take", "name": "Ann"}


class Pressed:
    """State of keys and buttons on the X server."""

    def __init__(self, display: str, xauthority: Path) -> None:
        self._connection: Any = xconnection.connect(display, xauthority)
        self._root = self._connection.get_setup().roots[0].root

    def __call__(self) -> bool:
        core = self._connection.core
        keys = any(core.QueryKeymap().reply().keys)
        return keys or bool(core.QueryPointer(self._root).reply().mask & 0x1F00)

    def close(self) -> None:
        self._connection.disconnect()


def pressed_on(desktop: Service) -> Pressed:
    return Pressed(*x_display(desktop))


@pytest.fixture
def pressed(desktop: Service) -> Iterator[Pressed]:
    found = pressed_on(desktop)
    yield found
    found.close()


@pytest.mark.parametrize("body", [HOLD, DRAG], ids=["keys", "button"])
def test_input_is_released_when_its_caller_disconnects(
    desktop: Service, pressed: Pressed, body: dict[str, Any]
) -> None:
    with client(desktop.ready) as leaving, pytest.raises(httpx2.ReadTimeout):
        leaving.post("/api/v0/desktop/action", json=body, timeout=1.5)
    until(lambda: not pressed(), "the release of everything")
    assert desktop.act(action="wait", duration=0)["output"] == "wait action performed"


def test_input_is_released_after_an_error(desktop: Service, pressed: Pressed) -> None:
    # Every key that could carry a foreign symbol is held, so the text has no room.
    desktop.act(action="key_down", text="+".join(chr(0x4E00 + n) for n in range(86)))
    assert pressed()
    desktop.post("/api/v0/desktop/action", {"action": "type", "text": "語"}, status=500)
    assert not pressed()


def test_keys_may_be_left_down_on_purpose(desktop: Service, pressed: Pressed) -> None:
    desktop.act(action="key_down", text="shift")
    desktop.act(action="left_mouse_down")
    assert pressed()
    desktop.act(action="left_mouse_up")
    desktop.act(action="key_up", text="shift")
    assert not pressed()


def test_taking_control_releases_the_input_of_agents(desktop: Service, pressed: Pressed) -> None:
    desktop.act(action="key_down", text="ctrl+shift")
    desktop.act(action="left_mouse_down")
    assert pressed()
    desktop.post(LEASE, TAKE)
    until(lambda: not pressed(), "the release of everything")


def given_back(desktop: Service) -> None:
    desktop.post(LEASE, {"action": "release", "name": "Ann"})


def taken_away(desktop: Service) -> None:
    assert desktop.http.delete(LEASE).is_success


def forced_away(desktop: Service) -> None:
    desktop.post(LEASE, {"action": "take", "name": "Bob", "force": True})


@pytest.mark.parametrize("end", [given_back, taken_away, forced_away])
def test_the_end_of_a_control_session_releases_input(
    desktop: Service, pressed: Pressed, end: Callable[[Service], None]
) -> None:
    async def hold() -> None:
        async with connect(held_by_ann(desktop)) as socket:
            await handshake(socket)
            await socket.send(HELD)
            await asyncio.to_thread(until, pressed, "what Ann holds")
            await asyncio.to_thread(end, desktop)
            await asyncio.to_thread(until, lambda: not pressed(), "the release of everything")

    played(hold())


def held_by_ann(desktop: Service) -> str:
    return stream(desktop, name="Ann", ticket=ticket(desktop, "control"))


async def closed(socket: ClientConnection) -> None:
    await socket.close()


async def cut(socket: ClientConnection) -> None:
    socket.transport.abort()


@pytest.mark.parametrize("leave", [closed, cut])
def test_input_is_released_when_its_viewer_disconnects(
    desktop: Service, pressed: Pressed, leave: Callable[[ClientConnection], Awaitable[None]]
) -> None:
    async def hold() -> None:
        async with connect(held_by_ann(desktop)) as socket:
            await handshake(socket)
            await socket.send(HELD)
            await asyncio.to_thread(until, pressed, "what Ann holds")
            await leave(socket)
            await asyncio.to_thread(until, lambda: not pressed(), "the release of everything")

    played(hold())
    assert desktop.get(LEASE)["holder"]["name"] == "Ann"


class Clock:
    """A clock that a test advances."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_expiry_of_control_and_the_end_of_the_service_release_input() -> None:
    async def hold(folder: Path) -> None:
        clock = Clock()
        leasing = LeaseRuntime(clock)
        watchers = Viewers(control=leasing)
        with display(folder) as running, leasing.running(effects(watchers)):
            pressed = Pressed(running.server.display, running.server.xauthority)
            upstream = relay.UnixUpstream(running.server.rfb_socket)
            routes = relay.router(upstream, lambda: False, watchers)
            async with fakes.Service(routes) as service, connect(service.stream) as socket:
                await handshake(socket)
                await socket.send(HELD)
                await asyncio.to_thread(until, pressed, "the pressed input")
                clock.now += IDLE_PERSON
                # An agent's call finds that the control session is over.
                leasing.check_act("")
                await asyncio.to_thread(until, lambda: not pressed(), "the end of control")
                await socket.send(HELD)
                await asyncio.to_thread(until, pressed, "what is held again")
                await service.stop()
                await asyncio.to_thread(until, lambda: not pressed(), "the end of the service")
            pressed.close()

    with fakes.short_folder() as folder:
        played(hold(folder))


FEW = settings(
    derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
ACTION = "/api/v0/desktop/action"
BUTTONS = ("left", "middle", "right")
LEFT_DOWN = {f"{one}_mouse_down": f"{one}_mouse_up" for one in BUTTONS} | {"key_down": "key_up"}


@pytest.mark.slow("eighty actions on a real desktop")
def test_random_actions_leave_no_input_pressed(desktop: Service, pressed: Pressed) -> None:
    document = desktop.get("/openapi.json")
    (asked,) = [one for one in operations(document) if one.path == ACTION]
    done: set[str] = set()

    @settings(FEW, max_examples=80)
    @given(requests(asked))
    def answered(request: Asked) -> None:
        answer = ask(desktop.http, request)
        assert answer.status_code in (200, 400), f"{request}: {answer.text}"
        if answer.status_code == 200:
            done.add(request.json["action"])
            if request.json["action"] in LEFT_DOWN:
                undo = {**request.json, "action": LEFT_DOWN[request.json["action"]]}
                assert ask(desktop.http, replace(request, json=undo)).status_code == 200
        assert not pressed(), request

    answered()
    assert len(done) > 2, done


def test_no_random_request_is_an_internal_error(desktop: Service) -> None:
    document = desktop.get("/openapi.json")
    for operation in operations(document):

        @settings(FEW, max_examples=2)
        @given(requests(operation))
        def answered(request: Asked) -> None:
            answer = ask(desktop.http, request)
            assert answer.status_code != 500, f"{request}: {answer.text}"

        answered()
    assert desktop.get("/api/v0/desktop")["xserver"]["restarts"] == 0
    # Releases what random actions left pressed on the shared desktop.
    desktop.post(LEASE, TAKE)
