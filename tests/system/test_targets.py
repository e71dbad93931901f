"""Targets of actions on a real desktop: reported with an action, and found again."""

from collections.abc import Iterator

import pytest

from tests.system.event_stream import event_stream, next_of
from tests.system.services import Json, Service, until

pytestmark = pytest.mark.x11

WINDOWS = "/api/v0/desktop/windows"
FIND = "/api/v0/desktop/find-patch"
LEASE = "/api/v0/desktop/lease"
QUIET = {"quiet_ms": 100, "max_ms": 2000}


@pytest.fixture
def window(desktop: Service) -> Iterator[int]:
    """The id of a window with two buttons."""
    with event_stream(desktop) as events:
        command = "xmessage -buttons Approve,Reject -geometry +300+200 'Shall this be paid?'"
        desktop.post("/api/v0/processes/start", {"command": command, "background": True})
        opened: int = next_of(events, "window_opened")["id"]
        next_of(events, "window_focused")
    yield opened
    desktop.http.post(f"{WINDOWS}/{opened}/close", json={})


def test_the_pixels_of_a_target_are_found_where_its_window_has_moved(
    desktop: Service, window: int
) -> None:
    (shown,) = desktop.get(WINDOWS)["windows"]
    place = shown["native_geometry"]
    # A place in the text: a click there does nothing.
    x, y = place["x"] + 60, place["y"] + 45

    def hovered() -> Json | None:
        observe = {"screenshot": False, "settle": QUIET, "targets": True}
        done = desktop.act(
            **{"action": "mouse_move", "coordinate": [x, y], "coordinate_space": "native"},
            observe=observe,
        )
        (target,) = done["targets"]
        found: Json | None = target
        # Unknown if the reading of widgets takes too long.
        return found if found and "patch" in found else None

    target = until(hovered, "the target")
    assert target is not None
    assert target["native_point"] == [x, y]
    body = {"patch": target["patch"], "point": target["patch_point"]}
    found = desktop.post(FIND, body)
    assert found["unique"], found
    assert found["matches"][0]["native_point"] == [x, y]
    moved = {"x": place["x"] + 333, "y": place["y"] + 111, "coordinate_space": "native"}
    desktop.post(f"{WINDOWS}/{window}/move", moved)

    def found_again() -> bool:
        # The window manager moves the window; its picture follows.
        again = desktop.post(FIND, body)
        places = [match["native_point"] for match in again["matches"]]
        return bool(again["unique"]) and places[0] == [x + 333, y + 111]

    until(found_again, "the target at its new place")
    desktop.post(FIND, {"patch": "bm8gcG5n"}, 400)
    desktop.post(FIND, {**body, "point": [900, 3]}, 400)
    desktop.post(FIND, {**body, "scale": 9}, 400)
    desktop.post(LEASE, {"action": "take", "name": "Ann", "private": True})
    try:
        desktop.post(FIND, body, 409)
    finally:
        desktop.post(LEASE, {"action": "release", "name": "Ann"})
