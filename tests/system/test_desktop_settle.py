"""The picture after an action is the one that stays."""

from typing import Any

import pytest

from tests.system.services import SLOWNESS, Service, until
from tests.system.typing_targets import keyboard_of

pytestmark = pytest.mark.x11


def observed(desktop: Service, **action: Any) -> dict[str, Any]:
    # On a machine whose cores are taken, what belongs together is painted further apart.
    settle = {"quiet_ms": round(100 * SLOWNESS), "max_ms": round(3000 * SLOWNESS)}
    return desktop.act(**action, observe={"cursor": False, "settle": settle})


def assert_stays(desktop: Service, seen: dict[str, Any]) -> None:
    later = desktop.act(action="wait", duration=0, observe={"settle": {"quiet_ms": 700}})
    assert later["frame_id"] == seen["frame_id"]
    assert later["changed_fraction"] == 0


def test_a_terminals_picture_is_the_last_one(desktop: Service) -> None:
    desktop.post("/api/v0/processes/start", {"command": "exec xterm -geometry 80x30+0+0"})
    until(lambda: keyboard_of(desktop), "the focus of the terminal")
    desktop.act(action="wait", duration=0, observe={"settle": {"quiet_ms": 1000, "max_ms": 20000}})
    for text in ("a", "\n", "seq 50\n"):
        seen = observed(desktop, action="type", text=text)
        assert seen["settled"] == "quiet"
        assert seen["changed_fraction"] > 0
        assert_stays(desktop, seen)


def test_an_unchanged_screen_is_reported_as_no_change(desktop: Service) -> None:
    desktop.act(action="wait", duration=0, observe={"settle": {"quiet_ms": 1000, "max_ms": 20000}})
    seen = observed(desktop, action="wait", duration=0)
    assert seen["settled"] == "no_change"
    assert seen["changed_regions"] == []
