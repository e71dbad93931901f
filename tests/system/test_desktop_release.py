"""Nothing stays pressed, however an action ends; the X server is asked."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings

from bench.requests_by_schema import Asked, operations, requests
from bench.soak_api import ask
from desktop.xconnection import connect
from tests.system.services import Service, client, until

pytestmark = pytest.mark.x11

HOLD = {"action": "hold_key", "text": "ctrl+shift+a", "duration": 100}
DRAG = {"action": "left_click_drag", "path": [[10, 10], [600, 500]], "duration": 100, "text": "alt"}


class Pressed:
    """What the X server says is down."""

    def __init__(self, desktop: Service) -> None:
        command = {"command": "printf '%s\\n%s' $DISPLAY $XAUTHORITY"}
        started = desktop.post("/api/v0/processes/start", command)
        path = f"/api/v0/processes/{started['id']}/output?wait=true"
        display, xauthority = str(desktop.get(path)["output"]).split()
        self._connection: Any = connect(display, Path(xauthority))
        self._root = self._connection.get_setup().roots[0].root

    def __call__(self) -> bool:
        core = self._connection.core
        keys = any(core.QueryKeymap().reply().keys)
        return keys or bool(core.QueryPointer(self._root).reply().mask & 0x1F00)

    def close(self) -> None:
        self._connection.disconnect()


@pytest.fixture
def pressed(desktop: Service) -> Iterator[Pressed]:
    found = Pressed(desktop)
    yield found
    found.close()


@pytest.mark.parametrize("body", [HOLD, DRAG], ids=["keys", "button"])
def test_a_caller_that_leaves_lets_go(
    desktop: Service, pressed: Pressed, body: dict[str, Any]
) -> None:
    with client(desktop.ready) as leaving, pytest.raises(httpx2.ReadTimeout):
        leaving.post("/api/v0/desktop/action", json=body, timeout=1.5)
    until(lambda: not pressed(), "the release of everything")
    assert desktop.act(action="wait", duration=0)["output"] == "wait action performed"


def test_an_error_in_the_middle_lets_go(desktop: Service, pressed: Pressed) -> None:
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


FEW = settings(
    derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
ACTION = "/api/v0/desktop/action"
LEFT_DOWN = {"key_down": "key_up", "left_mouse_down": "left_mouse_up"}


def test_made_up_actions_are_done_or_refused_and_let_go(desktop: Service, pressed: Pressed) -> None:
    document = desktop.get("/openapi.json")
    (asked,) = [one for one in operations(document) if one.path == ACTION]
    done: set[str] = set()

    @settings(FEW, max_examples=60)
    @given(requests(asked, document))
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
    assert len(done) > 5, done


def test_no_made_up_request_is_an_error_of_ours(desktop: Service) -> None:
    document = desktop.get("/openapi.json")
    for operation in operations(document):

        @settings(FEW, max_examples=2)
        @given(requests(operation, document))
        def answered(request: Asked) -> None:
            answer = ask(desktop.http, request)
            assert answer.status_code != 500, f"{request}: {answer.text}"

        answered()
    assert desktop.get("/api/v0/desktop")["xserver"]["restarts"] == 0
