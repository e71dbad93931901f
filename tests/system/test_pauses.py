"""Pauses of a desktop: its programs stand still while its agent waits for a person."""

import os
from pathlib import Path

import psutil
import pytest

from tests.live_trees import commands_below
from tests.system.services import Service, until

pytestmark = [
    *(pytest.mark.x11, pytest.mark.root),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a desktop users of its own"),
]

DESKTOP = "/api/v0/desktop"
PROGRAM = "sleep 98765"
FREEZER = ("do_freezer_trap", "get_signal")


def started(desktop: Service) -> psutil.Process:
    desktop.post("/api/v0/processes/start", {"command": f"exec {PROGRAM}", "background": True})
    found: list[psutil.Process] = []

    def runs() -> bool:
        commands = commands_below(desktop.process.pid).items()
        found[:] = [one for one, line in commands if " ".join(line) == PROGRAM]
        return bool(found)

    until(runs, "the program")
    return found[0]


def stands_still(program: psutil.Process) -> bool:
    # A signal has stopped it, or the freezer of its control group, which waits in the kernel.
    waits_in = Path(f"/proc/{program.pid}/wchan").read_text()
    return program.status() == psutil.STATUS_STOPPED or waits_in in FREEZER


def test_programs_stand_still_in_a_pause(desktop: Service) -> None:
    program = started(desktop)
    assert desktop.post(f"{DESKTOP}/pause", {"seconds": 600}) == {"paused": True}
    assert stands_still(program)
    assert desktop.post(f"{DESKTOP}/pause", {"seconds": 0}) == {"paused": False}
    assert not stands_still(program)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (f"{DESKTOP}/action", {"action": "mouse_move", "coordinate": [3, 3]}),
        ("/api/v0/processes/start", {"command": "true"}),
        (f"{DESKTOP}/lease", {"action": "take", "name": "Ann", "private": False}),
    ],
    ids=["action", "command", "person"],
)
def test_programs_go_on_when_the_desktop_is_used(
    desktop: Service, path: str, body: dict[str, object]
) -> None:
    program = started(desktop)
    desktop.post(f"{DESKTOP}/pause", {"seconds": 600})
    assert stands_still(program)
    desktop.post(path, body)
    assert not stands_still(program)
    # Also after a person, for whom the pause is only interrupted.
    if body.get("name"):
        desktop.http.delete(f"{DESKTOP}/lease").raise_for_status()
        until(lambda: stands_still(program), "the pause that goes on")
        assert desktop.get(f"{DESKTOP}")["lease"]["last"]["stopped"]["count"] == 0
        desktop.post(f"{DESKTOP}/pause", {"seconds": 0})


def test_a_pause_ends_by_itself(desktop: Service) -> None:
    program = started(desktop)
    desktop.post(f"{DESKTOP}/pause", {"seconds": 0.3})
    until(lambda: not stands_still(program), "the end of the pause")


@pytest.mark.parametrize("seconds", [-1, 601, "x", None])
def test_a_pause_has_a_duration(desktop: Service, seconds: object) -> None:
    desktop.post(f"{DESKTOP}/pause", {"seconds": seconds}, 400)
