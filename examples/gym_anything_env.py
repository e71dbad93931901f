"""An environment of gym-anything (package cua-speedrun) whose runner is a Deskhand desktop.

With ``fast_io`` a step is one request, which returns the screen right after the action; with
``env.runner.settle = True`` too, the screen when it has come to rest.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from deskhand import Desktop

USAGE = "usage: from gym_anything_env import DeskhandEnv; DeskhandEnv(EnvSpec(...), fast_io=True)"
try:
    from gym_anything.env import GymAnythingEnv
    from gym_anything.runtime.runners.base import BaseRunner
except ModuleNotFoundError as missing:
    sys.exit(f"{USAGE}; needs the package cua-speedrun ({missing})")

Json = dict[str, Any]
CLICKS = ("left_click", "right_click", "middle_click", "double_click", "triple_click")
BUTTONS = ("left_down", "left_up", "right_down", "right_up")
KEYS = {"keys": "key", "keys_down": "key_down", "keys_up": "key_up"}


class DeskhandRunner(BaseRunner):  # type: ignore[misc]
    """A desktop of its own, or that of ``DESKHAND_URL`` and ``DESKHAND_TOKEN``."""

    settle = False
    """True to wait until the screen has come to rest after an action."""

    def start(self, seed: int | None = None) -> None:
        url, token = os.environ.get("DESKHAND_URL", ""), os.environ.get("DESKHAND_TOKEN", "")
        screen = next((one for one in self.spec.observation if one.type == "rgb_screen"), None)
        size = "x".join(map(str, (screen and screen.resolution) or (1920, 1080)))
        found = Desktop.connect(url, token, space="native") if url else None
        self._desktop = found or Desktop.launch("--size", size, space="native")
        self._desktop.__enter__()
        self._seen: Any = None

    def stop(self) -> None:
        self._desktop.close()

    def run_reset(self, reset_script: str, seed: int | None = None) -> None:
        self.exec(reset_script)

    def run_task_init(self, init_script: str) -> None:
        self.exec(init_script)

    def supports_fast_io(self) -> bool:
        return True

    def inject_action(self, action: Json) -> None:
        """Perform an action, with ``fast_io`` together with its picture."""
        actions = translated(action, self._desktop.cursor)
        if not actions:
            raise ValueError(f"no mouse or keyboard action: {action}")
        observe = {"settle": self.settle} if self._fast_io else False
        done = self._desktop.batch(*actions, observe=observe)
        if done.error:
            raise RuntimeError(done.error)
        self._seen = done.seen.picture

    def capture_observation(self) -> Json:
        return {"screen": {"image": self.capture_screenshot_image(), "format": "pil"}}

    def capture_screenshot_image(self) -> Any:
        """Return the picture that the action has brought, or a new one."""
        seen, self._seen = self._seen, None
        return (seen or self._desktop.screenshot()).to_pil()

    def capture_screenshot(self, host_path: Path | str) -> bool:
        return bool(self._desktop.screenshot(path=host_path).data)

    def exec(
        self,
        cmd: str,
        env: Mapping[str, str] | None = None,
        user: str | None = None,
        use_pty: bool = True,
        timeout: int = 600,
    ) -> int:
        return self._desktop.run(cmd, env=self.merge_exec_env(env), timeout=timeout).exit_code

    def exec_capture(self, cmd: str) -> str:
        return self._desktop.run(cmd, env=self.merge_exec_env()).output

    def copy_to(self, host_src: str, container_dst: str) -> None:
        self._desktop.write_file(container_dst, Path(host_src).read_bytes())

    def copy_from(self, container_src: str, host_dst: str) -> None:
        Path(host_dst).write_bytes(self._desktop.read_file(container_src))


class DeskhandEnv(GymAnythingEnv):  # type: ignore[misc]
    """Runs each environment on a desktop, whatever runner its specification names."""

    def _select_runner(self, spec: Any) -> DeskhandRunner:
        return DeskhandRunner(spec)


def translated(action: Json, pointer: Callable[[], Sequence[int]]) -> list[Json]:
    """Return the actions of the API for one of gym-anything: its mouse, and then its keyboard.

    A scroll without a point of its own is where the pointer is.
    """
    mouse, keyboard = action.get("mouse") or {}, action.get("keyboard") or {}
    done: list[Json] = [
        {"action": name, "coordinate": [*mouse[name]]} for name in CLICKS if name in mouse
    ]
    for side in ("left", "right"):
        if points := mouse.get(f"{side}_click_drag"):
            *begin, end = ({"action": "mouse_move", "coordinate": [*point]} for point in points)
            down, up = ({"action": f"{side}_mouse_{way}"} for way in ("down", "up"))
            done += [*begin, down, {**end, "duration": 0.5}, up]
    if "move" in mouse:
        done.append({"action": "mouse_move", "coordinate": [*mouse["move"]]})
    held = mouse.get("buttons") or {}
    done += [{"action": name.replace("_", "_mouse_")} for name in BUTTONS if held.get(name)]
    if ticks := int(mouse.get("scroll", 0)):
        at = done[-1]["coordinate"] if "move" in mouse else [*pointer()]
        way = {"scroll_direction": "down" if ticks > 0 else "up", "scroll_amount": abs(ticks)}
        done.append({"action": "scroll", "coordinate": at, **way})
    if "text" in keyboard:
        done.append({"action": "type", "text": str(keyboard["text"])})
    for name, kind in KEYS.items():
        keys = keyboard.get(name) or []
        chord = keys if isinstance(keys, str) else "+".join(keys)
        done += [{"action": kind, "text": chord}] * bool(chord)
    return done


if __name__ == "__main__":
    sys.exit(USAGE)
