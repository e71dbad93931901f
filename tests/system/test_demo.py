"""The demo, run once from an installed wheel, and what it leaves in its data directory."""

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.live_trees import contents_below
from tests.system.installing import FOREIGN, Installation, install
from tests.system.services import SLOWNESS, Service, service

pytestmark = [
    pytest.mark.x11,
    pytest.mark.slow("the first of them builds the wheel and waits for a whole job of an agent"),
]

CANARY = "canary-51d2e9"
SECRETS = {"OPENAI_API_KEY": CANARY, "SOME_SECRET": CANARY}


@dataclass(frozen=True)
class Shown:
    """The output of the demo, its process and its data directory."""

    status: int
    result: dict[str, Any]
    data: Path
    installation: Installation


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """The whole job, run as ``DEMO_EXIT=1 deskhand demo`` runs it, once for all workers."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    ended, data = folder / "demo.json", folder / "demo-data"
    with (folder / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ended.exists():
            played(install(folder / "demo-wheel"), data, ended)
    status, result = json.loads(ended.read_text())
    return Shown(status, result, data, Installation(folder / "demo-wheel"))


def played(installation: Installation, data: Path, result: Path) -> None:
    """Run the demo; return its status and its output."""
    ended = subprocess.run(
        [installation.deskhand, "demo", "--data-dir", str(data), "--json"],
        cwd=installation.folder,
        capture_output=True,
        text=True,
        env={**os.environ, **SECRETS, **installation.environment, "DEMO_EXIT": "1"},
        timeout=240,
        check=False,
    )
    assert ended.stdout, ended.stderr
    result.write_text(json.dumps([ended.returncode, json.loads(ended.stdout)]))


@pytest.fixture(scope="module")
def shown(demo: Shown, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A control plane on a copy of the demo's data: only one may use a data directory."""
    folder = tmp_path_factory.mktemp("shown")
    data = shutil.copytree(demo.data, folder / "data")
    with service(
        folder / "errors.log",
        *("up", "--data-dir", str(data), "--listen", "127.0.0.1:0"),
        environment=SECRETS,
    ) as plane:
        yield plane


def test_the_wheel_brings_one_name_and_foreign_packages_do_no_harm(demo: Shown) -> None:
    installation = demo.installation
    (ours,) = (
        path.name
        for path in installation.packages.iterdir()
        if path.is_dir() and path.suffix != ".dist-info"
    )
    assert ours == "deskhand"
    script = "import deskhand; from deskhand import Desktop; print(deskhand.__file__)"
    printed = subprocess.run(
        [installation.python, "-c", script],
        cwd=installation.folder,
        env={**os.environ, **installation.environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert Path(printed.strip()).parent == installation.packages / "deskhand"
    for name in FOREIGN:
        foreign = subprocess.run(
            [installation.python, "-c", f"import {name}"],
            cwd=installation.folder,
            env={**os.environ, **installation.environment},
            stderr=subprocess.PIPE,
            check=False,
        )
        assert b"a foreign package" in foreign.stderr


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
    # The third square appears 700 ms after the second click, and the screenshot of that click waits
    # for it. On a machine that is declared slow the page's timer may fire after the settle rule
    # gives up; then the agent waits once.
    between = actions[clicks[1] + 1 : clicks[2]]
    assert between in ([[]] if SLOWNESS == 1 else [[], ["wait"]]), actions


def test_every_picture_the_model_was_sent_was_a_model_sized_png(demo: Shown) -> None:
    log = (demo.data / "logs" / "scripted.jsonl").read_text().splitlines()
    pictures = [picture for line in log for picture in json.loads(line)["pictures"]]
    assert pictures
    assert {(p["media_type"], p["width"], p["height"]) for p in pictures} == {
        ("image/png", 1280, 720)
    }


def test_the_recording_is_short_playable_and_stored_with_its_steps(
    demo: Shown, shown: Service, tmp_path: Path
) -> None:
    run = shown.get(f"/api/v0/runs/{demo.result['child_chat_id']}")
    video = shown.http.get(f"/api/v0/files/{demo.result['recording_file_id']}")
    assert video.headers["content-type"] == "video/mp4"
    video_path = tmp_path / "video.mp4"
    video_path.write_bytes(video.content)
    probed = probe(video_path)
    assert probed["streams"][0]["codec_name"] == "h264"
    assert (probed["streams"][0]["width"], probed["streams"][0]["height"]) == (1920, 1080)
    length = float(probed["format"]["duration"])
    assert 0 < length <= demo.result["recording"]["duration_s"] + 1
    timed = [step for step in run["chat"]["steps"] if step["video_start"] is not None]
    assert len(timed) >= 9
    assert all(0 <= step["video_start"] <= length for step in timed)
    thumbnail = shown.http.get(f"/api/v0/files/{demo.result['thumbnail_file_id']}")
    assert thumbnail.headers["content-type"] == "image/jpeg"


def test_the_recording_is_served_by_byte_ranges(demo: Shown, shown: Service) -> None:
    path = f"/api/v0/files/{demo.result['recording_file_id']}"
    part = shown.http.get(path, headers={"Range": "bytes=4-7"})
    assert part.status_code == 206
    assert part.content == b"ftyp"
    whole = shown.http.get(path)
    assert part.headers["content-range"] == f"bytes 4-7/{len(whole.content)}"
    again = shown.http.get(path, headers={"If-None-Match": whole.headers["etag"]})
    assert again.status_code == 304


def test_waiting_again_gives_the_same_result(demo: Shown, shown: Service) -> None:
    headers = {"Deskhand-Chat-Id": demo.result["parent_chat_id"]}
    answer = shown.http.post(
        "/api/v0/tools/wait_agent",
        json={"chat_id": demo.result["child_chat_id"]},
        headers=headers,
    ).json()["result"]
    assert answer["recording_file_id"] == demo.result["recording_file_id"]
    assert answer["report"] == demo.result["report"]


def probe(path: Path) -> dict[str, Any]:
    """Return the properties that ffprobe reads in a video."""
    command = ["ffprobe", "-v", "error", "-show_streams", "-show_format", "-of", "json", str(path)]
    found: dict[str, Any] = json.loads(
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
    )
    return found


def test_a_real_model_is_never_used_without_being_asked_for(demo: Shown, shown: Service) -> None:
    for chat_id in (demo.result["parent_chat_id"], demo.result["child_chat_id"]):
        assert shown.get(f"/api/v0/chats/{chat_id}")["model"].startswith("scripted:")


def test_the_secrets_of_the_control_plane_are_nowhere(demo: Shown, shown: Service) -> None:
    assert CANARY not in shown.tool("execute", command="env")["output"]
    kept = contents_below(demo.data)
    assert kept
    for path, content in kept.items():
        assert CANARY.encode() not in content, path


def test_all_that_a_desktop_serves_of_a_recording_is_there_after_it_was_stored(
    demo: Shown, shown: Service
) -> None:
    address = f"/api/v0/recordings/{demo.result['child_chat_id']}"
    facts = shown.get(address)
    (part,) = facts["parts"]
    video = shown.http.get(f"/{part['video_url']}", headers={"Range": "bytes=4-7"})
    assert (video.status_code, video.content) == (206, b"ftyp")
    chapters = shown.http.get(f"/{facts['steps_url']}").text
    assert chapters.startswith("WEBVTT\n")
    assert chapters.count(" --> ") == len(facts["steps"]) > 0
    clip = shown.http.get(f"{address}/clip", params={"from": 0, "to": facts["video_s"] / 2})
    assert clip.content[4:8] == b"ftyp"
    for picture in (facts["steps"][0]["picture_url"], facts["thumbnail_url"]):
        assert shown.http.get(f"/{picture}").content.startswith(b"\xff\xd8")
