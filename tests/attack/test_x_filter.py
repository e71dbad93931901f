"""A client of the display that speaks the X protocol itself, and follows no rule."""

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from deskhand.desktop.agent_helper.worker.process import MOST_FILTER_BYTES
from tests.attack.attackers import MAGENTA_PAGE, magenta, output, show_magenta
from tests.attack.test_private_take_over import Spies, cookie_in, focused, folder_of, seen
from tests.live_trees import names_below
from tests.system.services import Service, service, until, x_display
from tests.system.typing_targets import text_area

pytestmark = [pytest.mark.attack, pytest.mark.root, pytest.mark.x11]

SCRIPT = Path(__file__).parents[1] / "data" / "x_attacks.py"
X_SOCKETS = Path("/tmp/.X11-unix")


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Service]:
    with service(tmp_path / "errors.log", "desktop") as found:
        yield found


def filter_of(desktop: Service) -> psutil.Process:
    [found] = [one for one, name in names_below(desktop.ready["pid"]).items() if name == "x-filter"]
    return found


def attacked(desktop: Service, mode: str) -> str:
    """Attack as a program of the agent, and return what it printed."""
    script = folder_of(desktop) / "work" / "x_attacks.py"
    desktop.http.post(
        "/api/v0/write-file", params={"path": str(script)}, content=SCRIPT.read_bytes()
    ).raise_for_status()
    return output(desktop, f"/usr/bin/python3 {script} {mode} {X_SOCKETS}/X${{DISPLAY#:}}")


def attacked_directly(desktop: Service, mode: str) -> str:
    """Attack as a trusted client of the X server."""
    display, authority = x_display(desktop)
    path = f"{X_SOCKETS}/{display.replace(':', 'X')}"
    command = [sys.executable, str(SCRIPT), mode, path, cookie_in(authority).hex()]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_no_attack_of_a_client_succeeds(desktop: Service) -> None:
    show_magenta(desktop)
    found = json.loads(attacked(desktop, "all"))
    assert [name for name, succeeded in found.items() if succeeded] == []
    # The control: each of them works without the filter.
    found = json.loads(attacked_directly(desktop, "all"))
    assert [name for name, succeeded in found.items() if not succeeded] == []


def test_a_client_cannot_send_keys_to_the_browser(desktop: Service) -> None:
    with text_area(desktop) as area:
        assert attacked(desktop, "keys") == ""
        desktop.act(action="type", text="typed")
        assert area.held() == "typed"
        attacked_directly(desktop, "keys")
        assert set(area.held()) == {"a"}


def test_no_client_learns_which_keys_are_down(desktop: Service) -> None:
    desktop.act(action="key_down", text="shift")
    found = json.loads(attacked(desktop, "held"))
    assert [name for name, succeeded in found.items() if succeeded] == []
    found = json.loads(attacked_directly(desktop, "held"))
    assert [name for name, succeeded in found.items() if not succeeded] == []


def test_no_program_sees_what_is_typed_into_a_terminal(desktop: Service) -> None:
    desktop.post("/api/v0/desktop/launch", {"name": "terminal"})
    until(lambda: "Terminal" in focused(desktop), "the focus of the terminal")
    spies, modes = Spies(desktop), ("all", "windows")
    for mode in modes:
        spies.started(mode, mode)
    written = folder_of(desktop) / "home" / "written"
    desktop.act(action="type", text=f"echo typed > {written}\n")
    until(written.exists, "the command of the terminal")
    for mode in modes:
        spies.wait_alive(mode, len(spies.lines(mode)))
        assert seen(spies.lines(mode)) == []


def test_a_browser_of_the_agent_draws_with_one_connection_into_the_window_of_another(
    desktop: Service,
) -> None:
    command = f"exec chromium --user-data-dir=profile --no-first-run {shlex.quote(MAGENTA_PAGE)}"
    desktop.post("/api/v0/processes/start", {"command": command, "background": True})
    until(lambda: magenta(desktop) > 0.3, "a magenta page")


def test_clients_of_the_agent_leave_connections_for_others(desktop: Service) -> None:
    count, reason = json.loads(attacked(desktop, "clients"))
    assert 64 <= count <= 128
    assert reason.endswith("has 128 clients on this display, and may have no more")
    output(desktop, "true")
    assert desktop.http.get("/api/v0/desktop/screenshot").status_code == 200


def test_clients_cannot_make_the_filter_take_the_memory_of_the_machine(desktop: Service) -> None:
    limits = Path(f"/proc/{filter_of(desktop).pid}/limits").read_text().splitlines()
    [data] = [line.split() for line in limits if line.startswith("Max data size")]
    assert data[3:5] == [str(MOST_FILTER_BYTES)] * 2


def test_a_filter_that_ends_is_started_again_and_others_go_on(desktop: Service) -> None:
    server = desktop.get("/api/v0/desktop")["xserver"]["pid"]
    found = filter_of(desktop)
    found.kill()
    found.wait()
    count, _ = json.loads(attacked(desktop, "clients"))
    assert count >= 64
    assert desktop.get("/api/v0/desktop")["xserver"]["pid"] == server
