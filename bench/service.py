"""Measure a desktop service over HTTP and its parts in process, beside common tools.

Screenshots, a click, typing, and an action with the settled picture of its effect. Requests are
those of the standard library's client on one connection. Exits 1 when a goal is missed while the
machine is quiet.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import httpx2

from bench.calls import Plain
from bench.screenshot import scenes
from bench.tables import exit_status, in_turns, is_quiet, save, show
from deskhand.desktop.client.command import service_command
from deskhand.desktop.client.local_service import LocalService
from deskhand.desktop.display.x_server import SERVICE_AUTHORITY
from deskhand.desktop.geometry import Point
from deskhand.desktop.input.events import ButtonPress, ButtonRelease, PointerMotion, Tap
from deskhand.desktop.input.xtest import XTestInput

TEXT = ("The quick brown fox jumps over the lazy dog. 0123456789 " * 4)[:200]
ACTION = "/api/v0/desktop/action"
SCREENSHOT = "/api/v0/desktop/screenshot"
GOALS = {
    ("screenshot_ms", "text", "over HTTP, all painted"): 14.0,
    ("click_ms", "ours, in process"): 0.35,
    ("action_to_picture_ms", "ours: key, settled, picture"): 115.0,
}
"""Milliseconds, at most. Calls on a busy connection have theirs in `bench.calls`."""


class Live:
    """One desktop service, and the environment with which programs find its display."""

    def __init__(self, address: str, token: str, folder: Path) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self.http = httpx2.Client(base_url=address, headers=headers, timeout=60)
        self.plain = Plain(address, token)
        self.folder = folder
        self.environment = {**os.environ, **self._session()}

    def _session(self) -> dict[str, str]:
        # The cookie of the service: that of applications permits less, such as no change of the
        # background.
        authority = self.folder / "desktop" / SERVICE_AUTHORITY
        return {"DISPLAY": self.output("echo $DISPLAY").strip(), "XAUTHORITY": str(authority)}

    def output(self, command: str) -> str:
        started = self.http.post("/api/v0/processes/start", json={"command": command}).json()
        path = f"/api/v0/processes/{started['id']}/output"
        return str(self.http.get(path, params={"wait_for": "exit"}).json()["output"])

    def act(self, **action: Any) -> dict[str, Any]:
        answer = self.http.post(ACTION, json=action)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def screenshot(self, **params: str) -> httpx2.Response:
        return self.http.get("/api/v0/desktop/screenshot", params=params)

    def run(self, *command: str) -> None:
        done = subprocess.run(command, env=self.environment, capture_output=True, check=False)
        assert done.returncode == 0, (command, done.stderr)

    def own_authority(self) -> Path:
        """Return a file with the cookie for this host: PyAutoGUI ignores one for every host."""
        display, file = self.environment["DISPLAY"], self.folder / "authority"
        given = ("xauth", "-f", self.environment["XAUTHORITY"], "list", display)
        found = subprocess.run(given, check=True, capture_output=True, text=True).stdout.split()
        name = f"{socket.gethostname()}/unix{display}"
        self.run("xauth", "-f", str(file), "add", name, *found[-2:])
        return file

    def scrot(self) -> bytes:
        full, small = self.folder / "scrot.png", self.folder / "small.png"
        self.run("scrot", "--overwrite", "-p", str(full))
        self.run("convert", str(full), "-resize", "1280x720!", str(small))
        return small.read_bytes()

    def terminal(self) -> None:
        """Open a terminal over the whole screen and wait until it has the keyboard focus."""
        self.output("xterm -geometry 240x80+0+0 -e cat > /dev/null 2>&1 &")
        while self.screenshot(format="jpeg").headers["Deskhand-Frame-Id"]:
            seen = self.act(action="left_click", coordinate=[640, 300], observe=True)
            typed = self.act(action="type", text="x", observe=True)
            if seen["settled"] != "ceiling" and typed["changed_fraction"] > 0:
                return
            time.sleep(0.2)


def screenshots(live: Live) -> dict[str, dict[str, float]]:
    """Measure screenshots over HTTP: all repainted, unchanged, and known to the client (304)."""
    found: dict[str, dict[str, float]] = {}
    for name, (one, other) in scenes(live.folder).items():
        full: list[float] = []
        for picture in (one, other) * 5:
            live.run("hsetroot", "-fill", str(picture))
            full.append(in_turns({"full": picture_of(live)}, 1)["full"])
        tag = live.screenshot().headers["etag"]

        def known(tag: str = tag) -> None:
            answer = live.http.get("/api/v0/desktop/screenshot", headers={"If-None-Match": tag})
            assert answer.status_code == 304

        rest = in_turns(
            {"over HTTP, unchanged": picture_of(live), "over HTTP, 304": known}, 20
        ) | in_turns({"scrot + convert": live.scrot}, 2)
        found[name] = {"over HTTP, all painted": median(full), **rest}
    return found


def picture_of(live: Live) -> Callable[[], object]:
    """Return a request for a screenshot."""
    return lambda: live.plain.request("GET", SCREENSHOT)


def clicks(live: Live, input_device: XTestInput, pyautogui: Any) -> dict[str, float]:
    """Measure a click on the empty background."""
    click = {"action": "left_click", "coordinate": [600, 333]}
    events = (PointerMotion(Point(900, 500)), ButtonPress(1), ButtonRelease(1))

    def by_pyautogui(pause: float) -> Callable[[], None]:
        def click() -> None:
            pyautogui.PAUSE = pause
            pyautogui.click(900, 500)

        return click

    return in_turns(
        {
            "ours, in process": lambda: input_device.perform(events),
            "ours, over HTTP": lambda: live.plain.act(click),
            "PyAutoGUI, PAUSE 0": by_pyautogui(0.0),
            "PyAutoGUI, its default": by_pyautogui(0.1),
            "xdotool": lambda: live.run("xdotool", "mousemove", "900", "500", "click", "1"),
        },
        9,
    )


def typing(live: Live, input_device: XTestInput, pyautogui: Any) -> dict[str, float]:
    """Measure typing 200 ASCII characters into a terminal."""
    taps = [Tap(ord(character)) for character in TEXT]
    pyautogui.PAUSE = 0
    return in_turns(
        {
            "ours, in process": lambda: input_device.perform(taps),
            "ours, over HTTP": lambda: live.plain.act({"action": "type", "text": TEXT}),
            "PyAutoGUI, interval 0": lambda: pyautogui.write(TEXT),
            "xdotool, its default delay": lambda: live.run("xdotool", "type", TEXT),
        },
        3,
    )


def observed(live: Live) -> dict[str, float]:
    """Measure a key with the settled picture of its effect; common tools sleep 2 s instead."""

    def slept() -> None:
        live.run("xdotool", "key", "b")
        time.sleep(2.0)
        live.scrot()

    return in_turns(
        {
            "ours: key, settled, picture": lambda: live.plain.act(
                {"action": "key", "text": "a", "observe": {"screenshot": True}}
            ),
            "xdotool, 2 s, scrot + convert": slept,
        },
        9,
    )


def missed(results: dict[str, Any]) -> list[str]:
    """Return the goals that were missed."""
    found = []
    for names, most in GOALS.items():
        measured: Any = results
        for name in names:
            measured = measured[name]
        if measured > most:
            found.append(f"{' '.join(names)}: {measured:.2f} ms of at most {most:g}")
    return found


def main() -> int:
    results: dict[str, Any] = {}
    # The common tools run beside the desktop, and find its display.
    os.environ["DESKHAND_NAMESPACES"] = "off"
    with tempfile.TemporaryDirectory(prefix="deskhand-", dir="/tmp") as place:
        child = LocalService(service_command("--json", "--folder", f"{place}/desktop"))
        # The desktop's user must be able to read the pictures in the folder.
        Path(place).chmod(0o755)
        try:
            live = Live(*child.open(), Path(place))
            os.environ.update(live.environment, XAUTHORITY=str(live.own_authority()))
            # PyAutoGUI reads ``DISPLAY`` while it is imported.
            pyautogui: Any = __import__("pyautogui")
            pyautogui.FAILSAFE = False
            where = Path(live.environment["XAUTHORITY"])
            results["screenshot_ms"] = screenshots(live)
            for name, times in results["screenshot_ms"].items():
                show(f"screenshot, {name}", times, "over HTTP, all painted")
            with XTestInput(live.environment["DISPLAY"], where) as input_device:
                results["click_ms"] = clicks(live, input_device, pyautogui)
                show("click", results["click_ms"], "ours, in process")
                live.terminal()
                results["typing_200_ms"] = typing(live, input_device, pyautogui)
                show("typing 200 characters", results["typing_200_ms"], "ours, in process")
            results["action_to_picture_ms"] = observed(live)
            show("action to settled picture", results["action_to_picture_ms"],
                 "ours: key, settled, picture")  # fmt: skip
        finally:
            child.close()
    save("service", json.loads(json.dumps(results)))
    return exit_status(missed(results), quiet=is_quiet())


if __name__ == "__main__":
    sys.exit(main())
