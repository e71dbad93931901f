import gc
import os
from pathlib import Path

import pytest

from bench.traces import Traces, traces
from desktop.environment import built
from desktop.generation import Generation, Setting
from desktop.geometry import Size
from desktop.spawn import Spawner

pytestmark = pytest.mark.x11

CYCLES = 10


def test_a_desktop_that_is_opened_and_closed_leaves_nothing(tmp_path: Path) -> None:
    environment = built(tmp_path, "tester", "leaks", inherited=os.environ)
    for name in ("home", "tmp", "run", "logs"):
        (tmp_path / name).mkdir()
    counted: list[Traces] = []
    with Spawner() as spawner:
        for number in range(1, CYCLES + 1):
            setting = Setting(
                *(tmp_path, Size(640, 480), environment, spawner),
                acted=lambda: None,
                told=lambda kind, data: None,
            )
            life = Generation(setting, number, 0, lambda: None)
            life.open()
            life.framebuffer.frame()
            life.windows.all()
            life.close()
            gc.collect()
            counted.append(traces())
            files = sorted(path.name for path in tmp_path.rglob("*.sock"))
            assert files == []
    # The first cycle may open what stays open for the process's life.
    assert counted[-1] == counted[1]
