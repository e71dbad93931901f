import json
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from deskhand.desktop.agent_socket.binding import AGENT_SOCKET
from deskhand.desktop.dialects.osworld.agent_files import FOLDER, OsworldFiles
from tests.vncbridge.fakes import short_folder

CODE = """
import pyautogui
pyautogui.PAUSE = 0
pyautogui.moveTo(3, 4, tween=pyautogui.easeInQuad)
pyautogui.scroll(2)
with pyautogui.hold("shift"):
    pyautogui.press("a")
print(pyautogui.onScreen(5, 5), pyautogui.onScreen((50, 5)))
for name in ("locateOnScreen", "alert", "getActiveWindow"):
    try:
        getattr(pyautogui, name)()
    except pyautogui.PyAutoGUIException as error:
        print(error)
try:
    pyautogui.keyDown("x")
except pyautogui.PyAutoGUIException as error:
    print(error)
print(hasattr(pyautogui, "other"))
"""


class Answers:
    """Answers the requests of a program, and keeps them."""

    def __init__(self, folder: Path) -> None:
        self.requests: list[dict[str, Any]] = []
        (folder / AGENT_SOCKET).parent.mkdir(parents=True)
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(folder / AGENT_SOCKET))
        self._listening.listen()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listening.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection, connection.makefile("rwb") as stream:
                request = json.loads(stream.readline())
                self.requests.append(request)
                stream.write(json.dumps(self._answer(request)).encode() + b"\n")

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["do"] == "status":
            return {"size": {"width": 20, "height": 10}}
        if request.get("action") == "cursor_position":
            return {"native_point": [7, 8]}
        if request["actions"][0].get("text") == "x":
            return {"error": {"code": "human_in_control", "message": "Ann is in control"}}
        return {"results": [{"output": "done"} for _ in request["actions"]]}


def test_the_module_sends_its_calls_to_the_socket_of_the_agent() -> None:
    with short_folder() as folder:
        OsworldFiles.read().write(folder, "")
        assert not (folder / FOLDER / "bin" / "google-chrome").exists()
        answers = Answers(folder)
        try:
            done = subprocess.run(
                [sys.executable, "-S", "-c", CODE],
                env={"PYTHONPATH": str(folder / FOLDER / "lib")},
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            answers.close()
        assert done.stderr == ""
        assert done.stdout.splitlines() == [
            "True False",
            "pyautogui.locateOnScreen is not served here: use the route GET /screenshot",
            "pyautogui.alert is not served here: use the route POST /execute with a program such "
            "as zenity",
            "pyautogui.getActiveWindow is not served here: use the route POST "
            "/setup/activate_window or /setup/close_window",
            "human_in_control: Ann is in control",
            "False",
        ]
        actions = [one for request in answers.requests for one in request.get("actions", ())]
        assert [one["action"] for one in actions] == [
            *("mouse_move", "scroll", "key_down", "key", "key_up", "key_down")
        ]
        assert actions[1]["coordinate"] == [7, 8]


def test_the_browser_gets_no_switches_of_a_debugger() -> None:
    with short_folder() as folder:
        browser = folder / "bin" / "browser"
        OsworldFiles.read().write(folder, str(browser))
        browser.parent.mkdir()
        browser.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
        browser.chmod(0o755)
        words = ("--remote-debugging-port=1337", "--incognito", "https://example.com/a b")
        chrome = folder / FOLDER / "bin" / "google-chrome"
        printed = subprocess.run([chrome, *words], capture_output=True, text=True, check=True)
        assert printed.stdout == "--incognito\nhttps://example.com/a b\n"
        assert (folder / FOLDER / "bin" / "python").exists()
        modes = {path.stat().st_mode & 0o777 for path in (folder / FOLDER).rglob("*.py")}
        assert modes == {0o644}


@pytest.mark.parametrize("host", ["127.0.0.1", "168.63.129.16", "192.0.0.192"])
def test_the_program_alone_fetches_no_private_address(host: str) -> None:
    with short_folder() as folder:
        OsworldFiles.read().write(folder, "")
        program = str(folder / FOLDER / "agent_program.py")
        # As the agent's user runs it, which may be unable to read the package.
        done = subprocess.run(
            [sys.executable, "-I", "-S", program, "download", f"http://{host}:9/x", f"{folder}/x"],
            env={},
            capture_output=True,
            text=True,
            check=False,
        )
        said = f"{host} has a private address; --speak osworld:lan permits these"
        assert said in done.stderr


def test_the_files_are_readable_whatever_the_umask_is() -> None:
    with short_folder() as folder:
        files = OsworldFiles.read()
        files.write(folder, "/bin/true")
        files.write(folder, "/bin/true")
        for path in (folder / FOLDER).rglob("*"):
            if path.is_dir():
                assert path.stat().st_mode & 0o777 == 0o755
