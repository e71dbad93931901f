"""The commands for scripts, as a shell runs them."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.system.services import DESKHAND, Service, until

pytestmark = pytest.mark.x11


def deskhand(
    plane: Service, *arguments: str, cwd: Path | None = None, text: str | None = None
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DESKHAND_TOKEN": plane.token, "DESKHAND_URL": plane.url}
    return subprocess.run(
        [DESKHAND, *arguments],
        capture_output=True,
        text=True,
        input=text,
        cwd=cwd,
        env=environment,
        timeout=120,
        check=False,
    )


def run_json(plane: Service, *arguments: str, **more: Any) -> dict[str, Any]:
    ended = deskhand(plane, *arguments, "--json", **more)
    assert ended.returncode == 0, ended.stderr
    assert len(ended.stdout.splitlines()) == 1
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


@pytest.mark.soak
@pytest.mark.slow("a dozen commands, each a process that imports all")
def test_a_script_sees_acts_and_records(fresh_plane: Service, tmp_path: Path) -> None:
    seen = run_json(fresh_plane, "screenshot", cwd=tmp_path)
    assert (tmp_path / "screenshot.png").read_bytes().startswith(b"\x89PNG")
    assert (seen["width"], seen["height"]) == (1280, 720)
    desktop = fresh_plane.get("/api/v0/desktops")["desktops"][0]["id"]
    assert run_json(fresh_plane, "click", "640", "360", "--desktop", desktop)["point"] == [640, 360]
    clamped = deskhand(fresh_plane, "click", "1281", "10", "--button", "right")
    assert "off the screen" in clamped.stderr
    refused = deskhand(fresh_plane, "click", "99999", "10")
    assert refused.returncode != 0
    assert "(99999, 10) is outside of the screenshot, which is 1280x720." in refused.stderr
    assert "type" in run_json(fresh_plane, "type", "-", text="a text\n")["output"]
    assert "key" in run_json(fresh_plane, "key", "Escape", "ctrl+a")["output"]
    # Faster than it can be sent as it comes.
    numbers = deskhand(fresh_plane, "exec", desktop, "--", "seq 1 200000").stdout
    assert numbers.split() == [str(one) for one in range(1, 200_001)]

    stored = run_json(
        fresh_plane, "record", "film.mp4", "--seconds", "0.2", "--label", "b", cwd=tmp_path
    )
    assert (tmp_path / "film.mp4").stat().st_size == stored["bytes"]
    listed = run_json(fresh_plane, "recordings", "list")["recordings"]
    assert [(one["id"], one["label"]) for one in listed] == [(stored["id"], "b")]

    def fetched_again() -> bool:
        run_json(fresh_plane, "recordings", "get", stored["id"], "again.mp4", cwd=tmp_path)
        video = fresh_plane.http.get(
            f"/api/v0/desktops/{desktop}/desktop/recordings/{stored['id']}/video"
        )
        return (tmp_path / "again.mp4").read_bytes() == video.raise_for_status().content

    # Its index may come to the front of the file in between.
    until(fetched_again, "the same video by both ways")
    run_json(fresh_plane, "recordings", "rm", stored["id"])
    assert run_json(fresh_plane, "recordings", "list")["recordings"] == []


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("screenshot", "a.bmp"), 2, ".webp"),
        (("screenshot", "--desktop", "nope"), 4, "there is no desktop nope"),
        (("key", "ctrl+nokey"), 1, "Unknown key"),
        (("recordings", "get", "11111111-1111-4111-8111-111111111111"), 1, "not"),
    ],
)
def test_a_mistake_is_one_line_and_a_status(
    fresh_plane: Service, tmp_path: Path, arguments: tuple[str, ...], status: int, message: str
) -> None:
    ended = deskhand(fresh_plane, *arguments, cwd=tmp_path)
    assert ended.returncode == status, ended
    assert message in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_without_a_control_plane_a_desktop_of_its_own_is_seen(tmp_path: Path) -> None:
    environment = {**os.environ, "DESKHAND_DATA_DIR": str(tmp_path / "data")}
    ended = subprocess.run(
        [DESKHAND, "screenshot", "-"], capture_output=True, env=environment, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith(b"\x89PNG")
