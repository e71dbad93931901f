"""Machines of OSWorld's `DesktopEnv` that are Deskhand desktops, and one tiny task."""

import json
import os
import subprocess
import sys

USAGE = (
    "usage: python examples/osworld_provider.py, or from osworld_provider import DeskhandProvider"
)
try:
    from desktop_env.controllers.python import PythonController
    from desktop_env.controllers.setup import SetupController
    from desktop_env.providers.base import Provider
except ModuleNotFoundError as missing:
    sys.exit(f"{USAGE}; needs the package desktop-env ({missing})")

LINE = "it's a <tag>"
VERIFIED = {"command": ["true"], "verification": {"window_exists": "task"}}
TASK = [
    {"type": "launch", "parameters": {"command": ["xterm", "-T", "task"]}},
    {"type": "execute_with_verification", "parameters": VERIFIED},
]


class DeskhandProvider(Provider):  # type: ignore[misc]
    """Starts one desktop, with ports of 127.0.0.1 that add its credential."""

    def __init__(self, region: str | None = None) -> None:
        super().__init__(region)
        self._running: list[subprocess.Popen[str]] = []
        self._address = ""

    def start_emulator(self, path_to_vm: str, headless: bool = True, *_: object) -> None:
        """Start a desktop, unless it runs."""
        if self._running:
            return
        ready = self._started("desktop", "--speak", "osworld,cdp")
        os.environ["DESKHAND_TOKEN"] = ready["token"]
        forward = ("forward", "--url", ready["url"])
        found = [self._started(*forward, name)["listen"] for name in ("osworld", "cdp")]
        self._address = ":".join((found[0], found[1].rpartition(":")[2], "5910", "8080"))

    def get_ip_address(self, path_to_vm: str) -> str:
        """Return the host with the ports of the server, of Chromium, VNC and VLC."""
        return self._address

    def save_state(self, path_to_vm: str, snapshot_name: str) -> None:
        """Do nothing: a reverted desktop is a fresh one."""

    def revert_to_snapshot(self, path_to_vm: str, snapshot_name: str) -> str:
        """Replace the desktop by a fresh one."""
        self.stop_emulator(path_to_vm)
        self.start_emulator(path_to_vm)
        return path_to_vm

    def stop_emulator(self, path_to_vm: str, *_: object) -> None:
        """End the desktop and its ports."""
        while self._running:
            with self._running.pop() as process:
                process.terminate()

    def _started(self, *words: str) -> dict[str, str]:
        command = ["deskhand", *words, "--json"]
        self._running += [subprocess.Popen(command, stdout=subprocess.PIPE, text=True)]
        return dict(json.loads(next(iter(self._running[-1].stdout or ()))))


def run_task(address: str) -> float:
    """Return 1.0 if a line that is typed into a terminal arrives unchanged."""
    host, server, chromium, *_ = address.split(":")
    SetupController(host, int(server), int(chromium)).setup(TASK)
    controller = PythonController(host, int(server))
    # What is typed before the shell has started `cat` would be the shell's.
    for line, arrived in (("cat > ~/typed", "-e"), (LINE, "-s")):
        controller.execute_python_command(f"pyautogui.write({line!r}); pyautogui.press('enter')")
        controller.run_bash_script(f"until test {arrived} ~/typed; do sleep 0.1; done")
    return float(controller.get_file("~/typed") == f"{LINE}\n".encode())


if __name__ == "__main__":
    if len(sys.argv) != 1:
        sys.exit(USAGE)
    provider = DeskhandProvider()
    try:
        provider.revert_to_snapshot("", "start")
        sys.stdout.write(f"score {run_task(provider.get_ip_address(''))}\n")
    finally:
        provider.stop_emulator("")
