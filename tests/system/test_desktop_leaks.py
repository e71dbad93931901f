import gc
import os
import socket
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from bench.traces import Traces, traces
from deskhand.desktop.browser.launch import prepare
from deskhand.desktop.display.child_processes import ChildProcessSpawner
from deskhand.desktop.display.instance import DisplayInstance, InstanceOptions
from deskhand.desktop.display.session_files import SessionFiles
from deskhand.desktop.geometry import Size
from deskhand.desktop.isolation.claims import user_numbers
from deskhand.desktop.isolation.environment import built
from deskhand.desktop.launch.leftovers import clean_leftovers

pytestmark = pytest.mark.x11

CYCLES = 4


@pytest.mark.slow("a leak shows after some cycles only")
def test_a_desktop_that_is_opened_and_closed_leaves_nothing(tmp_path: Path) -> None:
    environment = built(tmp_path, "tester", "leaks", inherited=os.environ)
    for name in ("home", "tmp", "run", "logs"):
        (tmp_path / name).mkdir()
    counted: list[Traces] = []
    with ChildProcessSpawner() as spawner:
        for number in range(1, CYCLES + 1):
            setting = InstanceOptions(
                *(tmp_path, Size(640, 480), environment, spawner, SessionFiles.read()),
                browser=prepare("", "auto", environment),
                acted=lambda: None,
                publish=lambda kind, data: None,
            )
            life = DisplayInstance(setting, number, 0, lambda: None)
            life.open()
            life.framebuffer.frame()
            life.windows.all()
            display = life.xserver.display.removeprefix(":")
            life.close()
            gc.collect()
            counted.append(traces(display))
            files = sorted(path.name for path in tmp_path.rglob("*.sock"))
            assert files == []
    # The first cycle may open what stays open for the process's life, and threads of earlier tests
    # may end meanwhile.
    before, after = asdict(counted[1]), asdict(counted[-1])
    assert [name for name, count in after.items() if count > before[name]] == [], counted


def test_sockets_of_dead_x_servers_go_once_they_are_none_that_start(tmp_path: Path) -> None:
    folder = Path("/tmp/.X11-unix")
    paths = [folder / f"X{os.getpid()}{number}" for number in range(3)]
    for path in paths:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    for path, age in zip(paths, (60, 60, -3600), strict=True):
        os.utime(path, times=(time.time() - age,) * 2)
    try:
        # Only a numbered user's, or our own, may be a desktop's.
        if os.geteuid() == 0:
            os.chown(paths[1], 4_000_000, -1)
        clean_leftovers(tmp_path, user_numbers(os.environ))
        assert [path.exists() for path in paths] == [False, os.geteuid() == 0, True]
    finally:
        for path in paths:
            path.unlink(missing_ok=True)
