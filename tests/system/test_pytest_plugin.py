"""The plugin for pytest, in test suites of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.services import PATIENCE

pytestmark = pytest.mark.x11

SUITE = """
from deskhand import Desktop, expect

seen = []

def test_passes(desktop: Desktop) -> None:
    seen.append(desktop.status().instance_id)
    assert desktop.screenshot().data

def test_fails(desktop: Desktop) -> None:
    seen.append(desktop.status().instance_id)
    desktop.mouse.click(10, 10)
    expect(desktop, timeout=0.1).to_have_window("Editor of pictures")

def test_desktops() -> None:
    assert len(set(seen)) == {count}
"""


def run_suite(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(text)
    # As the entry point does where our wheel is installed.
    plugin = ("-p", "deskhand.tools.pytest_plugin.plugin")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--rootdir", str(folder), *plugin, *options],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=6 * PATIENCE,
    )


@pytest.mark.soak
@pytest.mark.slow("two desktops")
def test_a_failed_test_leaves_its_video_picture_and_steps(tmp_path: Path) -> None:
    ended = run_suite(tmp_path, SUITE.replace("{count}", "2"))
    assert "1 failed, 2 passed" in ended.stdout, ended.stdout + ended.stderr
    kept = tmp_path / "deskhand-results"
    (folder,) = kept.iterdir()
    assert folder.name == "test_it.py-test_fails"
    assert (folder / "video.mp4").read_bytes()[4:8] == b"ftyp"
    assert (folder / "last.png").read_bytes().startswith(b"\x89PNG")
    assert "left_click" in {
        step["action"] for step in json.loads((folder / "steps.json").read_text())
    }
    for name in ("video.mp4", "last.png", "steps.json"):
        assert f"deskhand-results/test_it.py-test_fails/{name}" in ended.stdout
    assert 'no window "Editor of pictures"' in ended.stdout


@pytest.mark.soak
@pytest.mark.slow("a desktop")
def test_a_desktop_may_last_for_a_module_and_nothing_be_recorded(tmp_path: Path) -> None:
    options = ("--desktop-scope=module", "--deskhand-record=off")
    ended = run_suite(tmp_path, SUITE.replace("{count}", "1"), *options)
    assert "1 failed, 2 passed" in ended.stdout, ended.stdout + ended.stderr
    assert not (tmp_path / "deskhand-results").exists()


@pytest.mark.soak
@pytest.mark.full
@pytest.mark.slow("a desktop")
def test_all_tests_may_be_kept_elsewhere(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    options = ("--deskhand-record=all", f"--deskhand-output={kept}", "--desktop-scope=session")
    ended = run_suite(tmp_path, SUITE.replace("{count}", "1"), *options)
    assert "1 failed, 2 passed" in ended.stdout, ended.stdout + ended.stderr
    assert {one.name for one in kept.iterdir()} == {
        "test_it.py-test_fails",
        "test_it.py-test_passes",
    }


def test_a_fixture_of_the_same_name_is_left_alone(tmp_path: Path) -> None:
    own = "import pytest\n\n@pytest.fixture\ndef desktop() -> int:\n    return 3\n\n"
    ended = run_suite(
        tmp_path, f"{own}\ndef test_own(desktop: int) -> None:\n    assert desktop == 3\n"
    )
    assert "1 passed" in ended.stdout, ended.stdout + ended.stderr
