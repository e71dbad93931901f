"""A recording in progress, and the same one finished, played by desktop programs."""

import itertools
import os
import re
import subprocess
import uuid
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import av
import pytest

from tests.interop.clients import PATIENCE
from tests.system.services import Service, until

TESTED = "a recording in progress and a finished one: played to the end"
SHORTEST_SECONDS = 2.0
NOBODY = 65534
# It does not run as root, and needs another home then.
VLC_VERSION = (
    "command -v vlc >/dev/null && { vlc --version || "
    f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups vlc --version; }} 2>/dev/null"
)
ROUNDING_SECONDS = 0.2
"""Half of the longest frame of a video with a constant rate, and more."""

Player = Callable[[], float]
"""Plays the video; returns the time of the last frame that was shown, in seconds."""


def frame_times(video: bytes) -> list[float]:
    """Return the times of the frames of a video in seconds, from its first one.

    There are none in a recording whose first frame is not written yet.
    """
    try:
        with av.open(BytesIO(video), "r") as container:
            times = [frame.time for frame in container.decode(video=0) if frame.time is not None]
    except av.error.InvalidDataError:
        return []
    return sorted(time - min(times) for time in times)


@pytest.fixture
def recording(desktop: Service) -> str:
    """The path of a recording in progress with some seconds of a pointer that moves."""
    name = str(uuid.uuid4())
    desktop.post("/api/v0/desktop/recording/start", {"recording_id": name})
    path = f"/api/v0/desktop/recordings/{name}/video"
    turns = itertools.count()

    def long_enough() -> bool:
        desktop.act(action="mouse_move", coordinate=[100 + next(turns) % 20 * 40, 300])
        return (0.0, *frame_times(desktop.http.get(path).content))[-1] > SHORTEST_SECONDS

    until(long_enough, "some seconds of video")
    return path


def plays(desktop: Service, path: str, player: Player) -> None:
    """Play a recording in progress, finish it, and play it again."""
    name = path.split("/")[-2]
    for finished in (False, True):
        if finished:
            desktop.post("/api/v0/desktop/recording/stop", {"recording_id": name})
        # A recording in progress may be longer when the player asks for it.
        known = frame_times(desktop.http.get(path).raise_for_status().content)
        # VLC leaves out the last frame, which has no duration.
        assert player() >= known[-2] - ROUNDING_SECONDS


@pytest.mark.interop_client(
    "mpv",
    how="`mpv --http-header-fields='Authorization: Bearer TOKEN' URL` of the video",
    tested=TESTED,
    version_of=("mpv", "--version"),
)
def test_mpv_plays_a_recording_to_its_end(desktop: Service, recording: str, tmp_path: Path) -> None:
    script = tmp_path / "times.lua"
    script.write_text(
        "mp.observe_property('time-pos', 'number', function(_, at)\n"
        "  if at then print('at ' .. at) end\nend)\n"
    )
    options = ("--no-config", "--ao=null", "--vo=null", "--untimed", f"--script={script}")
    header = f"--http-header-fields=Authorization: Bearer {desktop.token}"

    def mpv() -> float:
        printed = played("mpv", *options, header, desktop.url + recording).decode()
        return max(float(at) for at in re.findall(r"at ([\d.]+)", printed))

    plays(desktop, recording, mpv)


@pytest.mark.interop_client(
    "VLC",
    how="`vlc -`, with the video that curl gets with the token, as VLC sends no such header",
    tested=TESTED,
    version_of=("sh", "-c", VLC_VERSION),
)
def test_vlc_plays_a_recording_to_its_end(desktop: Service, recording: str) -> None:
    chain = "#transcode{vcodec=mp2v,vb=800}:std{access=file,mux=ts,dst=-}"

    def vlc() -> float:
        video = desktop.http.get(recording).raise_for_status().content
        command = ("vlc", "-I", "dummy", "--no-audio", f"--sout={chain}", "fd://0", "vlc://quit")
        # What the player has decoded, as a video of its own.
        return frame_times(played(*command, given=video, user=NOBODY))[-1]

    plays(desktop, recording, vlc)


def played(*command: str, given: bytes = b"", user: int | None = None) -> bytes:
    """Run a player to its end, as another user if this is root; return its standard output."""
    done = subprocess.run(
        command,
        input=given,
        capture_output=True,
        timeout=PATIENCE,
        user=user if os.geteuid() == 0 else None,
        env={**os.environ, "HOME": "/nonexistent"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
