"""Files that keep an X server from starting: an agent prepares them and its X server restarts."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attack.attackers import output
from tests.system.services import Service, service, until

pytestmark = [pytest.mark.attack, pytest.mark.root, pytest.mark.x11]

LOCK = "echo '         1' > /tmp/.X{0}-lock"
"""Locks have the pid of an X server; 1 is init, which lives as long as the desktop."""
ATTACKS = (
    pytest.param(LOCK, id="lock"),
    pytest.param("mkdir -p /tmp/.X{0}-lock/in", id="lock-directory"),
    pytest.param("mkfifo /tmp/.X{0}-lock", id="lock-fifo"),
    pytest.param("mkdir -p /tmp/server-{0}.xkm/in", id="keymap"),
    pytest.param("! head -c 1G /dev/zero > /tmp/fill", id="full"),
)


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Service]:
    with service(tmp_path / "errors.log", "desktop", "--desktop-tmp", "16") as found:
        yield found


@pytest.mark.parametrize("attack", ATTACKS)
def test_the_display_comes_back_whatever_the_agent_writes_to_tmp(
    desktop: Service, attack: str
) -> None:
    before = desktop.get("/api/v0/desktop")
    number = before["display"].removeprefix(":")
    assert output(desktop, f"{attack.format(number)} && echo made").endswith("made")
    os.kill(before["xserver"]["pid"], signal.SIGKILL)
    until(lambda: desktop.get("/api/v0/desktop")["xserver"]["restarts"], "a restart")
    until(lambda: screenshot_status(desktop) == 200, "the display")
    after = desktop.get("/api/v0/desktop")
    assert (after["display"], after["xserver"]["running"]) == (before["display"], True)


def screenshot_status(desktop: Service) -> int:
    return desktop.http.get("/api/v0/desktop/screenshot").status_code


SERVER = (
    "cd; rm -f up; mkfifo up; n=; Xvnc :{0} -displayfd 5 -rfbport -1 -SecurityTypes None"
    " -nolisten local -nolisten unix -listen tcp 5>up >xvnc.log 2>&1 & read n < up;"
    " kill $!; echo $n; [ $n ] || tail -n 5 xvnc.log"
)
"""An X server of the agent, whose number is printed once it accepts clients.

It listens on TCP: all sockets of X servers are the service's.
"""


@pytest.mark.parametrize("attack", ["mkdir -p /tmp/server-{0}.xkm/in", "! {1}"])
def test_the_same_files_keep_an_x_server_of_the_agent_from_starting(
    desktop: Service, attack: str
) -> None:
    # TCP ports are the host's.
    number, other = (1000 + os.getpid() % 10_000 * 2 + one for one in range(2))
    assert output(desktop, SERVER.format(other)) == str(other)
    made = attack.format(number, "head -c 1G /dev/zero > /tmp/fill")
    assert output(desktop, f"{made} && echo made").endswith("made")
    assert "Failed to activate virtual core keyboard" in output(desktop, SERVER.format(number))
