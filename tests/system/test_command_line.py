"""The commands, as a shell runs them."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.system.services import DESKHAND, PATIENCE, Service, service

pytestmark = pytest.mark.x11


def deskhand(*arguments: str, data: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        environment.pop(name, None)
    if data is not None:
        environment["DESKHAND_DATA_DIR"] = str(data)
    return subprocess.run(
        [DESKHAND, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=180,
        check=False,
    )


@pytest.mark.soak
@pytest.mark.slow("a whole run")
def test_a_task_runs_without_a_control_plane_shows_its_steps_and_keeps_its_video(
    tmp_path: Path,
) -> None:
    ended = deskhand("run", "show the date", data=tmp_path / "data")
    # The example script has shown what Deskhand does; the task was for a model.
    assert ended.returncode == 5, ended.stderr
    wanted = "not done: no model: set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY"
    assert wanted in ended.stderr
    lines = ended.stdout.splitlines()
    assert any("example script" in line for line in lines)
    assert any("/runs/" in line for line in lines)
    assert any("execute: uname -sr" in line for line in lines)
    assert any(line.startswith("Outcome: done") for line in lines)
    assert any(line.startswith("Recording: ") for line in lines)


@pytest.mark.slow("a whole run")
def test_a_task_runs_on_the_control_plane_that_is_there(plane: Service, tmp_path: Path) -> None:
    environment = {**os.environ, "DESKHAND_TOKEN": plane.token}
    command = [DESKHAND, "run", "show the date", "--url", plane.url, "--json"]
    command += ["--model", "scripted:tour"]
    ended = subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=180, check=False
    )
    assert ended.returncode == 0, ended.stderr
    result = json.loads(ended.stdout)
    assert result["outcome"] == "done"
    assert plane.get(f"/api/v0/chats/{result['chat_id']}")["recording_file_ids"]


@pytest.mark.slow("a process that imports all, and some start a control plane")
@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("run", "  "), 2, "the task is blank"),
        (("run", "x", "--model", "claude-opus-5-5"), 5, "ANTHROPIC_API_KEY"),
        (("run", "x", "--url", "http://127.0.0.1:1"), 4, "no token"),
        (("up", "--listen", "nowhere"), 4, "HOST:PORT"),
        (("up", "--data-dir", "/proc/nothing"), 4, "/proc/nothing"),
        (("url",), 4, "deskhand up"),
    ],
)
def test_a_mistake_is_one_line_and_a_status(
    tmp_path: Path, arguments: tuple[str, ...], status: int, message: str
) -> None:
    ended = deskhand(*arguments, data=tmp_path / "data")
    assert ended.returncode == status, ended
    assert message in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert ended.stderr.startswith("deskhand: ")


def test_an_unknown_command_is_a_usage_error() -> None:
    assert deskhand("fly").returncode == 2


@pytest.mark.slow("an X server, a browser and an encoder are started")
def test_the_doctor_finds_this_machine_healthy(tmp_path: Path) -> None:
    ended = deskhand("doctor", "--json", data=tmp_path / "data")
    result = json.loads(ended.stdout)
    assert result["healthy"], result
    assert ended.returncode == 0
    assert {"Xvnc", "openbox", "setpriv", "isolation"} <= {f["name"] for f in result["findings"]}


def test_the_doctor_explains_how_to_fix_a_missing_program(tmp_path: Path) -> None:
    secret = "a secret of enough characters"
    environment = {
        **{**os.environ, "PATH": "/nowhere", "DESKHAND_DATA_DIR": str(tmp_path / "data")},
        **{"DESKHAND_NOTIFY_URL": "https://example.com/", "DESKHAND_NOTIFY_SECRET": secret},
    }
    ended = subprocess.run(
        [DESKHAND, "doctor"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=3 * PATIENCE,
        check=False,
    )
    assert ended.returncode == 1
    assert "apt-get install tigervnc-standalone-server" in ended.stdout
    assert "notify_url = https://example.com/" in ended.stdout
    assert secret not in ended.stdout + ended.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_control_plane_that_a_signal_ends_says_so_in_its_log(
    tmp_path: Path, number: signal.Signals
) -> None:
    data = tmp_path / "data"
    with service(tmp_path / "errors", "up", "--data-dir", str(data), "--listen", "127.0.0.1:0") as (
        found
    ):
        os.kill(found.ready["pid"], number)
        assert found.process.wait(PATIENCE) == 0
    lines = (data / "logs" / "service.jsonl").read_text().splitlines()
    said = [one["event"] for one in map(json.loads, lines)]
    assert f"{number.name} ends the service" in said
    assert (tmp_path / "errors").read_text() == ""


def test_the_version_is_printed() -> None:
    assert deskhand("version").stdout.startswith("deskhand ")
