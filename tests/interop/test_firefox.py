"""A recording in progress, played by Firefox."""

import shutil
from pathlib import Path

import pytest

from deskhand.recording.timing.size_budget import QUALITY_LEVELS
from deskhand.recording.video.encoder import Encoder
from deskhand.recording.video.mp4_file import Mp4File
from tests.interop.marionette import firefox
from tests.recording.fakes import marked

PROGRAM = "firefox-esr" if shutil.which("firefox-esr") else "firefox"
FRAMES = 50
PLAY = """
const [rate, done] = arguments;
const video = document.querySelector('video');
video.muted = true;
video.playbackRate = rate;
video.onended = () => {
    const played = video.currentTime;
    video.onended = null;
    video.onseeked = () => done({played, sought: video.currentTime, duration: video.duration});
    video.currentTime = played / 2;
};
video.onerror = () => done({error: video.error.message});
video.play().catch((error) => done({error: String(error)}));
"""


@pytest.mark.interop_client(
    "firefox",
    how="the page of a run, or the address of a video",
    tested="a recording in progress: played to its end, and sought",
    version_of=(PROGRAM, "--version"),
)
@pytest.mark.slow("starts a browser")
def test_a_recording_in_progress_is_played_to_its_end(tmp_path: Path) -> None:
    with Encoder((320, 240), QUALITY_LEVELS[0], 8_000_000) as encoder:
        file = Mp4File(tmp_path / "1.mp4", encoder.stream)
        for number in range(FRAMES):
            encoded = encoder.encode(marked(number), number / 10, key=number % 20 == 0)
            file.write(encoded.data, key=encoded.key, at=number * 100)
        page = tmp_path / "page.html"
        page.write_text("<!doctype html><video src=1.mp4></video>")
        with firefox(PROGRAM, tmp_path / "profile") as browser:
            browser.send("WebDriver:Navigate", {"url": page.as_uri()})
            shown = browser.run(PLAY, 4)
        file.close()
    assert "error" not in shown, shown
    last = (FRAMES - 1) / 10
    assert shown["played"] == pytest.approx(last, abs=0.2)
    assert shown["sought"] == pytest.approx(last / 2, abs=0.2)
