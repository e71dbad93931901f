"""The measurements of `bench.gym_steps`: ROOT HOST PORT, with the desktop in the environment."""

import json
import sys
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from io import BytesIO
from statistics import median
from typing import Any

from gym_anything.runtime.runners.vnc_utils import VNCConnection
from gym_anything.specs import EnvSpec
from PIL import Image

TURNS = 30
SPEC = {
    "id": "bench",
    "observation": [{"type": "rgb_screen", "resolution": [1920, 1080]}],
    "action": [{"type": "mouse"}],
}
SCENES = {
    "an empty desktop": "true",
    "a terminal full of text": "xterm -maximized -e sh -c 'seq 1 100000; sleep 600' & sleep 2",
}


def main(root: str, host: str, port: str) -> None:
    """Print the medians as the last line."""
    sys.path[:0] = [root, f"{root}/examples"]
    env = import_module("gym_anything_env").DeskhandEnv(EnvSpec.from_dict(SPEC), fast_io=True)
    env.reset()
    viewer = VNCConnection(host, int(port))
    assert viewer.connect()

    def step(at: list[int]) -> Any:
        return env.step([{"mouse": {"left_click": at}}])[0]["screen"]["image"]

    def settled(at: list[int]) -> Any:
        env.runner.settle = True
        try:
            return step(at)
        finally:
            env.runner.settle = False

    def by_vnc(at: list[int]) -> Any:
        viewer.send_mouse_click(*at)
        return Image.open(BytesIO(viewer.capture_screenshot() or b""))

    ways: Mapping[str, Callable[[list[int]], Any]] = {
        "ours: a step": step,
        "ours: a step, settled": settled,
        "vnc_utils: a click, a screenshot": by_vnc,
    }
    found = {}
    for scene, command in SCENES.items():
        env.runner.exec(command)
        found[scene] = in_turns(ways)
    env.close()
    viewer.close()
    print("\n" + json.dumps(found))


def in_turns(ways: Mapping[str, Callable[[list[int]], Any]]) -> dict[str, float]:
    """Return the median milliseconds until each way has the pixels."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(TURNS):
        for name, way in ways.items():
            began = time.perf_counter()
            # Two points in turns, so that the pointer changes the picture.
            picture = way([640 + turn % 2 * 40, 500])
            picture.load()
            taken[name].append((time.perf_counter() - began) * 1000)
            assert picture.size == (1920, 1080)
    return {name: round(median(each), 1) for name, each in taken.items()}


if __name__ == "__main__":
    main(*sys.argv[1:])
