import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.system.services import DESKHAND, Service, service

pytestmark = pytest.mark.x11


@dataclass(frozen=True)
class Shown:
    """What the demo told, and where it kept its data."""

    status: int
    result: dict[str, Any]
    data: Path


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """The whole job, run as ``DEMO_EXIT=1 deskhand demo`` runs it."""
    data = tmp_path_factory.mktemp("demo") / "data"
    ended = subprocess.run(
        [DESKHAND, "demo", "--data-dir", str(data), "--json"],
        capture_output=True,
        text=True,
        env={**os.environ, "DEMO_EXIT": "1"},
        timeout=240,
        check=False,
    )
    assert ended.stdout, ended.stderr
    return Shown(ended.returncode, json.loads(ended.stdout), data)


def test_the_agent_does_the_whole_job(demo: Shown) -> None:
    assert demo.result["ok"], demo.result
    assert demo.status == 0
    assert (demo.result["hits"], demo.result["misses"]) == (5, 0)
    assert demo.result["answers"] == [
        {"name": "Ada Lovelace", "comment": "Five squares, and one of them came late."}
    ]
    assert "All five squares" in demo.result["report"]
    assert demo.result["report"] in demo.result["parent_report"]


def test_every_square_was_hit_at_its_native_place(demo: Shown) -> None:
    hits = {c["target"]: (c["x"], c["y"]) for c in demo.result["clicks"] if c["hit"]}
    places = {
        "top left": (0, 0),
        "top right": (1916, 0),
        "centre": (958, 538),
        "bottom left": (0, 1076),
        "bottom right": (1916, 1076),
    }
    assert set(hits) == set(places)
    for name, (left, top) in places.items():
        x, y = hits[name]
        assert left <= x < left + 4, name
        assert top <= y < top + 4, name


def test_the_late_square_was_seen_in_the_picture_of_the_click_before_it(demo: Shown) -> None:
    actions = [step["action"] or step["tool"] for step in demo.result["steps"]]
    clicks = [index for index, action in enumerate(actions) if action == "left_click"]
    # Second square, then the third that comes 700 ms late: nothing was done in between.
    assert clicks[2] == clicks[1] + 1, actions


def test_every_picture_the_model_was_sent_was_a_model_sized_png(demo: Shown) -> None:
    log = (demo.data / "logs" / "scripted.jsonl").read_text().splitlines()
    pictures = [picture for line in log for picture in json.loads(line)["pictures"]]
    assert pictures
    assert {(p["media_type"], p["width"], p["height"]) for p in pictures} == {
        ("image/png", 1280, 720)
    }


def test_the_recording_is_short_playable_and_stored_with_its_steps(
    demo: Shown, tmp_path: Path
) -> None:
    with plane_on(demo.data, tmp_path) as plane:
        run = plane.get(f"/api/v0/runs/{demo.result['child_chat_id']}")
        video = plane.http.get(f"/api/v0/files/{demo.result['recording_file_id']}")
        assert video.headers["content-type"] == "video/mp4"
        film = tmp_path / "film.mp4"
        film.write_bytes(video.content)
        probed = probe(film)
        assert probed["streams"][0]["codec_name"] == "h264"
        assert (probed["streams"][0]["width"], probed["streams"][0]["height"]) == (1920, 1080)
        length = float(probed["format"]["duration"])
        assert 0 < length <= demo.result["recording"]["duration_s"] + 1
        timed = [step for step in run["chat"]["steps"] if step["video_start"] is not None]
        assert len(timed) >= 9
        assert all(0 <= step["video_start"] <= length for step in timed)
        thumbnail = plane.http.get(f"/api/v0/files/{demo.result['thumbnail_file_id']}")
        assert thumbnail.headers["content-type"] == "image/jpeg"


def test_the_recording_is_served_by_byte_ranges(demo: Shown, tmp_path: Path) -> None:
    with plane_on(demo.data, tmp_path) as plane:
        path = f"/api/v0/files/{demo.result['recording_file_id']}"
        part = plane.http.get(path, headers={"Range": "bytes=4-7"})
        assert part.status_code == 206
        assert part.content == b"ftyp"
        whole = plane.http.get(path)
        assert part.headers["content-range"] == f"bytes 4-7/{len(whole.content)}"
        again = plane.http.get(path, headers={"If-None-Match": whole.headers["etag"]})
        assert again.status_code == 304


def test_waiting_again_gives_the_same_result(demo: Shown, tmp_path: Path) -> None:
    with plane_on(demo.data, tmp_path) as plane:
        headers = {"Deskhand-Chat-Id": demo.result["parent_chat_id"]}
        answer = plane.http.post(
            "/api/v0/tools/wait_agent",
            json={"chat_id": demo.result["child_chat_id"]},
            headers=headers,
        ).json()["result"]
        assert answer["recording_file_id"] == demo.result["recording_file_id"]
        assert answer["report"] == demo.result["report"]


def plane_on(data: Path, tmp_path: Path) -> Any:
    """A control plane on the demo's data."""
    return service(
        tmp_path / "errors.log", "up", "--data-dir", str(data), "--listen", "127.0.0.1:0"
    )


def probe(film: Path) -> dict[str, Any]:
    """What ffprobe reads in a video."""
    command = ["ffprobe", "-v", "error", "-show_streams", "-show_format", "-of", "json", str(film)]
    found: dict[str, Any] = json.loads(
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
    )
    return found


def test_a_real_model_is_never_used_without_being_asked_for(demo: Shown, tmp_path: Path) -> None:
    with plane_on(demo.data, tmp_path) as plane:
        assert isinstance(plane, Service)
        for chat_id in (demo.result["parent_chat_id"], demo.result["child_chat_id"]):
            assert plane.get(f"/api/v0/chats/{chat_id}")["model"].startswith("scripted:")
