"""Do others' players agree with us about our files?"""

import functools
import http.server
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from deskhand.recording.library.catalog import Catalog
from deskhand.recording.library.faststart import move_index
from deskhand.recording.pipeline.engine import RecordingEngine
from deskhand.recording.ports import CapturedFrame
from deskhand.recording.settings import RecordingSettings
from deskhand.recording.step import Step
from deskhand.recording.timing.size_budget import QUALITY_LEVELS
from deskhand.recording.video import mp4_file
from deskhand.recording.video.encoder import Encoder
from deskhand.recording.video.mp4_file import Mp4File
from tests.recording.fakes import marked
from tests.system.browsing import plain_page
from tests.system.reporting_page import serving
from tests.system.services import PATIENCE

A = "a1111111-2222-3333-4444-555555555555"
WHOLE = ((0, 0, 321, 241),)


def recorded(folder: Path, *, cap: int = 104_857_600, noisy: int = 0) -> Catalog:
    """A recording of 12 s of numbers, 60 s of nothing and 2 s of numbers, of odd size."""
    catalog = Catalog(folder)
    settings = RecordingSettings(free_to_start=0, free_to_go_on=0, largest_file=cap)
    engine = RecordingEngine(catalog, settings, 1_000_000.0)
    engine.start(A, "", 0.0)
    now = 0.0
    random = np.random.default_rng(1)
    for _ in range(noisy):
        pixels = random.integers(0, 255, (241, 321, 4), dtype=np.uint8)
        engine.add_frame(CapturedFrame(pixels, now, WHOLE))
        now += 0.07
        engine.tick(now)
    for number in [*range(120), *range(120, 140)]:
        engine.add_frame(CapturedFrame(marked(number, 321, 241), now, WHOLE))
        now += 0.1
        engine.tick(now)
        if number == 119:
            engine.tick(now + 1.0)
            now += 60.0
            engine.add_step(Step(action="left_click", started=now, ended=now), now)
    engine.stop(A, now, "completed")
    return catalog


def probed(path: Path) -> dict[str, Any]:
    found = subprocess.run(
        ["ffprobe", "-v", "error", "-count_frames", "-show_streams", "-of", "json", str(path)],
        capture_output=True,
        check=True,
        timeout=3 * PATIENCE,
    )
    assert found.stderr == b""
    (stream,) = json.loads(found.stdout)["streams"]
    return dict(stream)


def test_ffprobe_sees_an_ordinary_video(tmp_path: Path) -> None:
    catalog = recorded(tmp_path)
    stream = probed(catalog.video(A))
    assert (stream["codec_name"], stream["pix_fmt"]) == ("h264", "yuv420p")
    assert (stream["width"], stream["height"]) == (322, 242)
    assert (stream["color_space"], stream["color_range"]) == ("bt709", "tv")
    assert stream["time_base"] == "1/1000"
    assert stream["nb_frames"] == stream["nb_read_frames"]
    assert int(stream["nb_frames"]) >= 140
    video_s = catalog.get(A)["video_s"]
    assert float(stream["duration"]) == pytest.approx(video_s, abs=0.1)
    assert video_s == pytest.approx(16.0, abs=0.2)


def test_ffmpeg_decodes_across_a_change_of_quality(tmp_path: Path) -> None:
    catalog = recorded(tmp_path, cap=3_000_000, noisy=150)
    stream = probed(catalog.video(A))
    assert stream["nb_frames"] == stream["nb_read_frames"]


def test_ffprobe_reads_a_rescued_file(tmp_path: Path) -> None:
    path = recorded(tmp_path).video(A)
    mp4_file.rescue(path)
    assert int(probed(path)["nb_frames"]) >= 140


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves a folder without talking about it."""

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def player(browser: Browser, folder: Path) -> Iterator[Page]:
    """A page with an empty video element, on a server of that folder."""
    (folder / "index.html").write_text("<video id=v muted></video>")
    handler = functools.partial(Files, directory=str(folder))
    with serving(handler) as port, plain_page(browser) as page:
        page.goto(f"http://127.0.0.1:{port}/index.html")
        yield page


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    with player(browser, tmp_path) as page:
        yield page


SEEK = """async ([url, times, toTheEnd]) => {
    const video = document.getElementById("v");
    const event = (name) => new Promise((done, fail) => {
        video.addEventListener(name, done, {once: true});
        video.addEventListener("error", () => fail(video.error.message), {once: true});
    });
    const ready = event("loadeddata");
    video.src = URL.createObjectURL(await (await fetch(url)).blob());
    await ready;
    const canvas = document.createElement("canvas");
    canvas.width = video.videoWidth; canvas.height = video.videoHeight;
    const pen = canvas.getContext("2d");
    const seen = [];
    for (const time of times) {
        // "seeked" may come before the picture is there to be drawn.
        const there = event("seeked");
        const drawn = new Promise((done) => video.requestVideoFrameCallback(done));
        video.currentTime = time;
        await there;
        await drawn;
        pen.drawImage(video, 0, 0);
        let number = 0;
        for (let bit = 0; bit < 16; bit++)
            if (pen.getImageData(16 * bit + 8, 48, 1, 1).data[0] > 127) number |= 1 << bit;
        seen.push(number);
    }
    if (toTheEnd) {
        const ended = event("ended");
        video.currentTime = Math.max(0, video.duration - 0.3);
        // Reaching the end may overtake the promise of play().
        video.play().catch(() => {});
        await ended;
    }
    return {seen, duration: video.duration, size: [video.videoWidth, video.videoHeight]};
}"""


def played(
    page: Page, path: Path, times: list[float], *, to_the_end: bool = True
) -> dict[str, Any]:
    """Return the frames that Chromium shows at the given times; then play the last moments."""
    folder = path.parents[1]
    return dict(page.evaluate(SEEK, [str(path.relative_to(folder)), times, to_the_end]))


@pytest.mark.browser
def test_chromium_plays_and_seeks(page: Page, tmp_path: Path) -> None:
    catalog = recorded(tmp_path)
    shown = played(page, catalog.video(A), [0.05, 11.05, 5.05, 3.15, 15.05])
    assert shown["seen"][:4] == [0, 110, 50, 31]
    assert shown["seen"][4] >= 128
    assert shown["size"] == [322, 242]
    assert shown["duration"] == pytest.approx(catalog.get(A)["video_s"], abs=0.1)


@pytest.mark.browser
def test_chromium_plays_across_a_change_of_quality(page: Page, tmp_path: Path) -> None:
    catalog = recorded(tmp_path, cap=3_000_000, noisy=150)
    end = catalog.get(A)["parts"][0]["video_s"]
    assert played(page, catalog.video(A), [0.1, end - 0.05, 1.0])["duration"] > 5


@pytest.mark.browser
def test_chromium_plays_a_moved_file_and_a_clip_of_it(page: Page, tmp_path: Path) -> None:
    catalog = recorded(tmp_path)
    assert move_index(catalog.video(A), spare=0)
    assert played(page, catalog.video(A), [0.05, 5.05, 11.05])["seen"] == [0, 50, 110]
    with catalog.clip(A, 3.05, 6.05).file as clip:
        path = tmp_path / A / "clip.mp4"
        path.write_bytes(clip.read())
    shown = played(page, path, [0.02, 1.02])
    assert shown["seen"] == [30, 40]
    assert shown["duration"] == pytest.approx(3.0, abs=0.1)


@pytest.mark.browser
def test_chromium_plays_what_a_kill_left(page: Page, tmp_path: Path) -> None:
    path = tmp_path / A / "1.mp4"
    path.parent.mkdir()
    with Encoder((320, 240), QUALITY_LEVELS[0], 8_000_000) as encoder:
        unfinished = Mp4File(tmp_path / "running.mp4", encoder.stream)
        for number in range(60):
            encoded = encoder.encode(marked(number), number / 10, key=number == 0)
            unfinished.write(encoded.data, key=encoded.key, at=number * 100)
        left = unfinished.path.read_bytes()
        unfinished.close()
    path.write_bytes(left)
    # Without an index a file has no length yet, so only the rescued one has an end to play to.
    assert played(page, path, [0.05, 3.05], to_the_end=False)["seen"] == [0, 30]
    path.write_bytes(left[:-20])
    mp4_file.rescue(path)
    shown = played(page, path, [0.05, 3.05])
    assert shown["seen"] == [0, 30]
    assert shown["duration"] == pytest.approx(5.8, abs=0.2)
