"""OSWorld's controllers, unchanged.

Usage: `HOST PORT [browser]`, `chrome HOST PORT CDP_PORT`, or `run FILE`. The first prints how many
routes it has used; with ``browser`` it opens a page too.

Their imports of libraries for evaluations, which these calls do not use, are empty modules.
"""

import runpy
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock
from urllib.parse import urlsplit

import requests

UNUSED = (
    *("dotenv", "pydrive", "pydrive.auth", "pydrive.drive", "desktop_env.evaluators"),
    *("desktop_env.evaluators.metrics", "desktop_env.evaluators.metrics.utils"),
)
sys.modules.update({name: MagicMock() for name in UNUSED})

if sys.argv[1] == "run":
    # The program sees the command line that it would have by itself.
    sys.argv = sys.argv[2:]
    runpy.run_path(sys.argv[0], run_name="__main__")
    sys.exit()

PythonController = import_module("desktop_env.controllers.python").PythonController
SetupController = import_module("desktop_env.controllers.setup").SetupController
if sys.argv[1] == "chrome":
    host, port, chromium = sys.argv[2:]
    chrome = ["google-chrome", "--remote-debugging-port=1337"]
    urls = ["about:blank", "data:text/html,<title>Two</title>"]
    SetupController(host, int(port), int(chromium)).setup(
        [
            {"type": "launch", "parameters": {"command": chrome}},
            {"type": "chrome_open_tabs", "parameters": {"urls_to_open": urls}},
        ]
    )
    sys.stdout.write("done")
    sys.exit()

host, port, *browser = sys.argv[1:]
used = set[tuple[str, str]]()


class NotedSession(requests.Session):
    """A session of which the routes are noted."""

    def request(self, method: str, url: str, **options: Any) -> requests.Response:  # type: ignore[override]
        used.add((method.upper(), urlsplit(url).path))
        return super().request(method, url, **options)


# Each call of the controllers makes a session.
requests.sessions.Session = NotedSession  # type: ignore[misc]
# A retry hides an error, and takes 5 s.
PythonController.retry_times = 1
controller = PythonController(host, port)
controller.retry_times, controller.retry_interval = 1, 0
screen = controller.get_screenshot()
assert screen.startswith(b"\x89PNG")
assert controller.get_vm_platform() == "Linux"
assert controller.get_vm_screen_size() == {"width": 1920, "height": 1080}
assert controller.get_accessibility_tree().startswith("<desktop-frame")
assert controller.get_terminal_output() is None
for kind, parameters in (
    ("MOVE_TO", {"x": 300, "y": 200}),
    ("CLICK", {"button": "left"}),
    ("MOUSE_DOWN", {"button": "right"}),
    ("MOUSE_UP", {"button": "right"}),
    ("RIGHT_CLICK", {"x": 1000, "y": 900}),
    ("PRESS", {"key": "esc"}),
    ("DOUBLE_CLICK", {}),
    ("DRAG_TO", {"x": 310, "y": 210}),
    ("SCROLL", {"dx": 1, "dy": -2}),
    ("TYPING", {"text": "it's a <tag>"}),
    ("KEY_DOWN", {"key": "shift"}),
    ("KEY_UP", {"key": "shift"}),
    ("HOTKEY", {"keys": ["ctrl", "a"]}),
):
    controller.execute_action({"action_type": kind, "parameters": parameters})
moved = controller.execute_python_command("print(pyautogui.position()[0])")
assert moved["output"] == "310\n", moved
assert controller.run_python_script("print(6 * 7)")["output"] == "42\n"
assert controller.run_bash_script("echo a; echo b >&2; exit 3")["returncode"] == 3

setup = SetupController(host, port)
with tempfile.TemporaryDirectory() as folder:
    source = Path(folder, "note.txt")
    source.write_text("hello")
    picture = Path(folder, "wall.png")
    picture.write_bytes(screen)
    files = [
        {"local_path": str(source), "path": "~/notes/note.txt"},
        {"local_path": str(picture), "path": "~/wall.png"},
    ]
    steps = [
        ("upload_file", {"files": files}),
        ("change_wallpaper", {"path": "~/wall.png"}),
        ("execute", {"command": ["cp", "~/notes/note.txt", "~/notes/copy"]}),
        ("launch", {"command": ["xterm", "-T", "first"]}),
        (
            "execute_with_verification",
            {"command": ["true"], "verification": {"window_exists": "first"}},
        ),
        ("activate_window", {"window_name": "first"}),
    ]
    setup.setup([{"type": name, "parameters": given} for name, given in steps])
    size = controller.get_vm_window_size("xterm")
    assert size["width"] > 100, size
    setup.setup([{"type": "close_window", "parameters": {"window_name": "first"}}])
    assert controller.get_file("~/notes/copy") == b"hello"
    assert controller.get_vm_wallpaper() == screen
    tree = controller.get_vm_directory_tree("~/notes")
    assert [one["name"] for one in tree["children"]] == ["copy", "note.txt"], tree
    assert controller.get_vm_desktop_path().endswith("/Desktop")
    if browser:
        page = Path(folder, "page.html")
        page.write_text("<title>Page</title>")
        files = [{"local_path": str(page), "path": "~/page.html"}]
        steps = [("upload_file", {"files": files}), ("open", {"path": "~/page.html"})]
        setup.setup([{"type": name, "parameters": given} for name, given in steps])
    controller.start_recording()
    video = Path(folder, "video.mp4")
    controller.end_recording(str(video))
    assert video.read_bytes()[4:8] == b"ftyp"
sys.stdout.write(f"{len(used)} routes\ndone")
