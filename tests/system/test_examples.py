"""The examples do what their descriptions promise."""

import ast
import asyncio
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from deskhand import AsyncDesktop
from deskhand.desktop.geometry import Size
from deskhand.tools.agents.scripted.script.library import parse_script
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from tests.system.services import PATIENCE, Service, service

pytestmark = pytest.mark.x11

EXAMPLES = Path(__file__).parent.parent.parent / "examples"

PLUGIN = "deskhand.tools.pytest_plugin.plugin"
SCRIPT = """
steps:
  - calls:
      - computer.screenshot: {}
      - computer.left_click: {coordinate: [640, 360]}
  - calls:
      - computer.key: {text: Escape, repeat: 2}
      - computer.scroll: {scroll_direction: down, scroll_amount: 2}
      - computer.key: {text: nokey}
  - say: Done after {calls} calls.
"""


ADAPTERS = ("anthropic_loop", "google_grid", "langchain_tools", "openai_agents_computer")
LONGEST = 40
"""Lines of code of an adapter, without docstrings, empty lines and its command line."""


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_is_short(name: str) -> None:
    source = (EXAMPLES / f"{name}.py").read_text().partition("if __name__ ==")[0]
    source = re.sub(r"^USAGE = .*\n", "", source, flags=re.MULTILINE)
    texts = set[int]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            texts |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(source.splitlines(), 1)
    assert sum(bool(line.strip()) and number not in texts for number, line in lines) <= LONGEST


@pytest.mark.slow("a whole run")
def test_the_quickstart_leaves_a_picture_and_a_video(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "quickstart.py"), str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=4 * PATIENCE)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "quickstart.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "quickstart.mp4").read_bytes()[4:8] == b"ftyp"
    last = ended.stdout.splitlines()[-1]
    assert last == f"created: {tmp_path}/quickstart.png {tmp_path}/quickstart.mp4"


@pytest.mark.soak
@pytest.mark.slow("imports a provider's library")
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_wrong_use_of_an_example_prints_a_usage_line(path: Path) -> None:
    command = [sys.executable, str(path), *["--no-such-thing"] * 5]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=6 * PATIENCE)
    assert (ended.returncode, ended.stdout) == (1, ""), ended.stderr
    assert re.fullmatch(r"usage: .*\n", ended.stderr)


@pytest.mark.soak
@pytest.mark.slow("a whole run")
def test_a_task_of_the_control_plane_leaves_its_report_and_video(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "control_plane.py"), str(tmp_path)]
    without = {**os.environ, "DESKHAND_DATA_DIR": str(tmp_path)}
    ended = subprocess.run(command, capture_output=True, text=True, env=without)
    assert ended.returncode == 1
    assert re.fullmatch(r"no control plane runs with .*deskhand up.*\n", ended.stderr)
    with service(tmp_path / "errors", "up", "--listen", "127.0.0.1:0", environment=without):
        ended = subprocess.run(
            command, capture_output=True, text=True, env=without, timeout=6 * PATIENCE
        )
    assert ended.returncode == 0, ended.stderr
    last = ended.stdout.splitlines()[-1]
    assert last == f"created: {tmp_path}/report.txt {tmp_path}/run.mp4"
    assert (tmp_path / "run.mp4").read_bytes()[4:8] == b"ftyp"
    assert (tmp_path / "report.txt").read_text()


@pytest.mark.soak
@pytest.mark.slow("a desktop")
def test_the_example_of_a_test_passes(tmp_path: Path) -> None:
    example = tmp_path / "test_terminal.py"
    example.write_text((EXAMPLES / example.name).read_text())
    ended = subprocess.run(
        [*(sys.executable, "-m", "pytest", "-q"), *("-p", PLUGIN), str(example)],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=6 * PATIENCE,
    )
    assert "1 passed" in ended.stdout, ended.stdout + ended.stderr


@pytest.mark.soak
@pytest.mark.slow("a whole run")
def test_the_loop_over_a_providers_toolset_works() -> None:
    async def main() -> tuple[int, str, str]:
        async with ScriptedModelServer([parse_script("clicks", SCRIPT)]) as model:
            child = await asyncio.create_subprocess_exec(
                *(sys.executable, str(EXAMPLES / "anthropic_loop.py"), "Click."),
                "scripted:clicks",
                env={
                    **os.environ,
                    "ANTHROPIC_API_KEY": model.api_key,
                    "DESKHAND_APPROVAL": "auto",
                    "ANTHROPIC_BASE_URL": model.url,
                },
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            async with asyncio.timeout(4 * PATIENCE):
                output, errors = await child.communicate()
            return child.returncode or 0, output.decode(), errors.decode()

    status, output, errors = asyncio.run(main())
    assert status == 0, errors
    assert output == "Done after 5 calls.\n"


# Calls of the model, and the actions that they become on a screen of 1280x720.
GRID = [
    ("click_at", {"x": 500, "y": 500}, ("left_click", [640, 360])),
    ("hover_at", {"x": 0, "y": 999}, ("mouse_move", [0, 719])),
    (
        "drag_and_drop",
        {"x": 100, "y": 100, "destination_x": 200, "destination_y": 200},
        ("left_click_drag", [256, 144]),
    ),
    (
        "scroll_at",
        {"x": 500, "y": 250, "direction": "up", "magnitude": 100},
        ("scroll", [640, 180]),
    ),
    ("scroll_document", {"direction": "left"}, ("scroll", [640, 360])),
    ("key_combination", {"keys": "Control+A"}, ("key", None)),
    ("type_text_at", {"x": 500, "y": 500, "text": "a"}, ("type", None)),
    ("go_back", {}, ("key", None)),
]


def test_function_calls_on_a_grid_become_actions(desktop: Service) -> None:
    perform = runpy.run_path(str(EXAMPLES / "google_grid.py"))["perform"]

    async def main() -> list[Any]:
        async with AsyncDesktop.connect(desktop.url, desktop.token) as computer:
            with pytest.raises(ValueError, match="unknown function: fly"):
                await perform(computer, "fly", {})
            return [await perform(computer, name, call) for name, call, _ in GRID]

    for done, (name, _, (action, point)) in zip(asyncio.run(main()), GRID, strict=True):
        # No window has the keyboard here, which the output of typing adds.
        assert done.output.startswith(f"{action} action performed"), name
        assert done.picture is not None, name
        assert point is None or list(done.point) == point, name


class Opened:
    """A desktop of which a program opens the browser, and nothing else."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.applications = self

    async def status(self) -> Any:
        return SimpleNamespace(model_size=Size(1280, 720))

    async def act(self, action: str, observe: bool, **fields: Any) -> str:
        self.calls.append((action, observe))
        return "done"

    async def launch(self, name: str) -> None:
        self.calls.append(name)

    async def open_url(self, url: str) -> None:
        self.calls.append(url)


def test_function_calls_open_the_browser_and_pages() -> None:
    perform = runpy.run_path(str(EXAMPLES / "google_grid.py"))["perform"]
    asked = [
        ("open_web_browser", {}, "browser"),
        ("search", {}, "https://www.google.com"),
        ("navigate", {"url": "https://example.com/"}, "https://example.com/"),
    ]
    for name, call, opened in asked:
        computer = Opened()
        assert asyncio.run(perform(computer, name, call)) == "done"
        assert computer.calls == [opened, ("wait", True)]
