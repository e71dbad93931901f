"""A desktop as an environment of cua-auto-harness, which checks that input arrives as it was meant.

The harness runs its probe on the desktop, so that it needs a token that may run commands, and
python3-tk there, with python3-xlib for all buttons of a mouse. Its tap (``tap=true``) needs the
extension RECORD, which level *user* denies to the agent.
"""

import shlex
import sys
from pathlib import Path
from typing import Any

from deskhand import Desktop

USAGE = (
    "usage: autoharness test --adapter examples/autoharness_adapter.py:deskhand "
    "-O url=URL -O token=TOKEN [-O tap=true] [-O by=xdotool|pyautogui]"
)
try:
    from autoharness import Adapter, register_adapter
    from autoharness.adapters import SutExecutionError, UnsupportedActionError
    from autoharness.adapters.gym_anything import build_xdotool_commands
    from autoharness.translate import to_pyautogui
except ModuleNotFoundError as missing:
    sys.exit(f"{USAGE}; needs the package cua-auto-harness ({missing})")

Json = dict[str, Any]
PYAUTOGUI = "import pyautogui, time\npyautogui.FAILSAFE = False\n"


@register_adapter("deskhand")
class DeskhandAdapter(Adapter):  # type: ignore[misc]
    """One desktop; ``by`` compares with a program that injects the input on the desktop.

    ``pythonpath`` is where pyautogui is on the desktop, if Python does not find it by itself.
    """

    options = ("url", "token", "tap", "by", "pythonpath")

    def __init__(self, env_dir: str, options: Json) -> None:
        self._desktop = Desktop.connect(options["url"], options["token"], space="native")
        self._by = options.get("by", "deskhand")
        self._pythonpath = options.get("pythonpath", "")
        self.supports_raw_tap = bool(options.get("tap"))
        self._caps_lock = False

    def boot(self) -> None:
        """Open the desktop, which runs."""
        self._desktop.__enter__()
        self.guest_display = self._desktop.run("printf %s $DISPLAY").output

    def teardown(self) -> None:
        """Remove the files of the probes, and leave the desktop as it runs."""
        self.exec("rm -f /tmp/autoharness_*")
        self._desktop.close()

    def exec(self, cmd: str, timeout: int = 120) -> tuple[int, str]:
        """Run a command as the agent's user."""
        ended = self._desktop.run(cmd, timeout=timeout)
        return ended.exit_code, ended.output

    def copy_in(self, local_path: str, guest_path: str) -> None:
        """Write a file on the desktop."""
        self._desktop.write_file(guest_path, Path(local_path).read_bytes())

    def screenshot(self, dst_path: str) -> None:
        """Save the screen in its own size."""
        self._desktop.screenshot(path=dst_path)

    def supports(self, action: Any) -> str | None:
        """Return why pyautogui cannot perform an action; None if it can."""
        try:
            return None if self._by != "pyautogui" else to_pyautogui(action) and None
        except UnsupportedActionError as error:
            return str(error)

    def inject(self, action: Any) -> None:
        """Perform an action."""
        match self._by:
            case "xdotool":
                for words in build_xdotool_commands(action):
                    self._run(["xdotool", *words])
            case "pyautogui":
                python = ["env", f"PYTHONPATH={self._pythonpath}", "python3"]
                self._run([*python, "-c", PYAUTOGUI + to_pyautogui(action)])
            case _:
                self._caps_lock ^= getattr(action, "keys", ()) == ["caps_lock"]
                actions = translated(action, as_keys=self._caps_lock)
                if error := self._desktop.batch(*actions).error:
                    raise SutExecutionError(error)

    def _run(self, words: list[str]) -> None:
        status, output = self.exec(shlex.join(words))
        if status:
            raise SutExecutionError(output)


def translated(action: Any, *, as_keys: bool) -> list[Json]:
    """Return the actions of the API that an action of the harness consists of.

    The API types a text exactly, whatever Caps Lock is; ``as_keys`` presses the letters' keys.
    """
    at: Json = {"coordinate": [action.x, action.y]} if hasattr(action, "x") else {}
    held: Json = {"modifiers": action.modifiers} if getattr(action, "modifiers", ()) else {}
    match action.kind:
        case "click":
            times = {2: "double", 3: "triple"}.get(action.count, action.button)
            return [{"action": f"{times}_click", **at, **held}]
        case "button_press":
            return [{"action": f"{action.button}_mouse_down", **at}]
        case "button_release":
            return [{"action": f"{action.button}_mouse_up", **at}]
        case "move":
            return [{"action": "mouse_move", **at}]
        case "scroll":
            ways = ((action.dy_ticks, ("down", "up")), (action.dx_ticks, ("right", "left")))
            wheel = {"action": "scroll", **at, **held}
            return [
                wheel | {"scroll_direction": names[ticks < 0], "scroll_amount": abs(ticks)}
                for ticks, names in ways
                if ticks
            ]
        case "key_chord":
            return [{"action": "key", "text": "+".join(action.keys)}]
        case "type_text" if as_keys:
            return [
                {"action": f"key_{way}", "text": letter}
                for letter in action.text
                for way in ("down", "up")
            ]
        case "type_text":
            return [{"action": "type", "text": action.text}]
        case "drag":
            path = [[*point] for point in action.path]
            return [{"action": "left_click_drag", "path": path, "button": action.button, **held}]
        case _:
            raise UnsupportedActionError(f"no action of the API for {action.kind}")
