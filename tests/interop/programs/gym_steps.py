"""Steps of gym-anything on the desktop of ``DESKHAND_URL``: `gym_steps.py ROOT`."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from gym_anything.specs import EnvSpec

root = sys.argv[1]
sys.path[:0] = [root, f"{root}/examples"]
SPEC = {
    "id": "steps",
    "observation": [{"type": "rgb_screen", "resolution": [1920, 1080]}],
    "action": [{"type": "mouse"}, {"type": "keyboard"}],
}
env = import_module("gym_anything_env").DeskhandEnv(EnvSpec.from_dict(SPEC), fast_io=True)
runner = env.runner


def pointer() -> tuple[int, int]:
    """Return where the pointer is."""
    found = runner.exec_capture("xdotool getmouselocation 2>/dev/null").split()
    return int(found[0].partition(":")[2]), int(found[1].partition(":")[2])


def step(*actions: dict[str, Any]) -> Any:
    """Return the picture after actions."""
    seen, _, done, _ = env.step([*actions], wait_between_actions=0)
    picture = seen["screen"]["image"]
    assert (picture.size, done) == ((1920, 1080), False)
    return picture.convert("RGB")


assert env.reset()["screen"]["image"].size == (1920, 1080)
try:
    for name in ("left", "right", "middle", "double", "triple"):
        step({"mouse": {f"{name}_click": [900, 500]}}, {"keyboard": {"keys": ["esc"]}})
    assert pointer() == (900, 500)
    step({"mouse": {"left_click_drag": [[900, 500], [950, 550]]}})
    assert pointer() == (950, 550)
    step({"mouse": {"right_click_drag": [[940, 560]]}}, {"keyboard": {"keys": "esc"}})
    assert pointer() == (940, 560)
    step({"mouse": {"move": [910, 510]}}, {"mouse": {"scroll": 2}}, {"mouse": {"scroll": -2}})
    step({"mouse": {"buttons": {"left_down": True}}}, {"mouse": {"buttons": {"left_up": True}}})
    assert pointer() == (910, 510)

    runner.settle = True
    before = step({"mouse": {"move": [20, 400]}})
    command = "rm -f ~/written; xterm -T steps -geometry 80x24+100+100 -e sh -c"
    assert runner.exec(f"{command} 'cat > ~/typed; mv ~/typed ~/written' &") == 0
    assert runner.exec("until xdotool search --onlyvisible --name ^steps$; do sleep 0.1; done") == 0
    step({"mouse": {"left_click": [300, 300]}})
    after = step(
        {"keyboard": {"text": "it's <Grüße>"}},
        {"keyboard": {"keys_down": ["shift"]}},
        {"keyboard": {"keys": ["a"]}},
        {"keyboard": {"keys_up": ["shift"]}},
        {"keyboard": {"keys": ["enter"]}},
    )
    assert after.tobytes() != before.tobytes()
    step({"keyboard": {"keys": ["ctrl", "d"]}})
    assert runner.exec("until test -e ~/written; do sleep 0.1; done") == 0
    here = Path("written")
    env.copy_from_env(runner.exec_capture("echo ~/written").strip(), str(here))
    assert here.read_text() == "it's <Grüße>A\n", here.read_text()
    env.copy_to_env(str(here), "/tmp/deskhand-gym-copy")
    assert (
        runner.exec_capture("cat /tmp/deskhand-gym-copy; rm /tmp/deskhand-gym-copy")
        == here.read_text()
    )
    assert runner.exec("exit 3") == 3
finally:
    env.close()
sys.stdout.write("done")
