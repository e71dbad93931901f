from pathlib import Path

import pytest

from deskhand.desktop.windows.focus import Focus
from tests.system.displays import display
from tests.system.services import SLOWNESS, Service, until
from tests.system.typing_targets import Terminal

pytestmark = pytest.mark.x11


def test_replies_name_the_window_that_had_the_keyboard_and_the_one_that_has_it(
    desktop: Service,
) -> None:
    desktop.post("/api/v0/processes/start", {"command": "exec xterm -T Übung -e cat"})

    def focused() -> bool:
        seen = desktop.act(action="wait", duration=0, observe={"screenshot": False})
        return bool(seen["focused_after"] and seen["focused_after"]["title"] == "Übung")

    until(focused, "the focus of the terminal")
    # On a machine whose cores are taken, the window closes later.
    settle = {"quiet_ms": round(300 * SLOWNESS), "max_ms": round(3000 * SLOWNESS)}
    reply = desktop.act(action="key", text="ctrl+d", observe={"settle": settle})
    assert reply["focused_before"]["title"] == "Übung"
    assert (reply["focused_after"] or {}).get("title") != "Übung"


def test_a_reply_says_that_no_window_had_the_keyboard_for_a_text(desktop: Service) -> None:
    until(lambda: not desktop.get("/api/v0/desktop/windows")["windows"], "no window")
    lost = desktop.act(action="type", text="lost")
    assert lost["nothing_focused"]
    assert "no window had the keyboard, and the text went nowhere" in lost["output"]
    terminal = Terminal(desktop)
    arrived = desktop.act(action="type", text="arrived")
    assert terminal.arrived("arrived") == "arrived"
    assert "nothing_focused" not in arrived
    assert arrived["output"] == "type action performed"


def test_without_a_window_manager_no_window_is_focused(tmp_path: Path) -> None:
    with display(tmp_path) as running:
        focus = Focus(lambda: (running.server.display, running.server.xauthority))
        assert focus.focused() is None
        focus.close()
        assert focus.focused() is None
        running.server.close()
        assert focus.focused() is None
        focus.close()
        focus.close()
