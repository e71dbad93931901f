"""Ways to record a screen: our recorder, and FFmpeg as others use it.

FFmpeg's x11grab at 30 frames a second is followed by a second pass that speeds up what
freezedetect calls frozen; at 15 frames a second it is not.
"""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from bench.recording_scenes import Stage
from deskhand.desktop.capture.framebuffer import Framebuffer
from deskhand.desktop.recordings.frame_source import FrameSource
from deskhand.recording.library.catalog import Catalog
from deskhand.recording.pipeline.recorder import Recorder
from deskhand.recording.settings import EncoderOptions, RecordingSettings
from deskhand.recording.timing.timeline import TimeMap
from deskhand.recording.video.encoder import STANDARD
from deskhand.recording.video.mp4_file import outermost

NAME = "{}1111111-2222-3333-4444-555555555555"


@dataclass
class Take:
    """Result of one recording."""

    facts: dict[str, float] = field(default_factory=dict)
    video: Path = Path()
    began: float = 0.0
    """Since 1970."""
    times: TimeMap = field(default_factory=lambda: TimeMap(((0.0, 0.0),)))


Way = Callable[[Stage], AbstractContextManager[Take]]


def ours(recordings: int, options: EncoderOptions = STANDARD) -> Way:
    """Return our recorder in a process of its own, with that many recordings at once."""

    @contextmanager
    def way(stage: Stage) -> Iterator[Take]:
        folder = stage.folder / f"ours-{time.monotonic_ns()}"
        command = [sys.executable, "-m", "bench.recording", "--record", str(folder)]
        command += ["--recordings", str(recordings)]
        command += ["--preset", options.preset, "--params", options.params]
        take = Take()
        with subprocess.Popen(
            command, env=os.environ | stage.environment, stdin=-1, stdout=-1, text=True
        ) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdout.readline()
            yield take
            child.stdin.write("stop\n")
            child.stdin.flush()
            take.facts |= json.loads(child.stdout.readline())
        catalog = Catalog(folder)
        known = catalog.get(NAME.format("a"))
        take.video, take.began = catalog.video(NAME.format("a")), known["started_at"]
        take.times = TimeMap(tuple((real, video) for real, video in known["time_map"]))

    return way


def record(folder: Path, recordings: int, options: EncoderOptions) -> None:
    """Run as the recorder of ``ours``: record until a line is read, then print the costs."""
    names = [NAME.format(digit) for digit in "abcde"[:recordings]]
    with Framebuffer(os.environ["DISPLAY"], Path(os.environ["XAUTHORITY"])) as screen:
        settings = RecordingSettings(free_to_start=0, free_to_go_on=0, encoder=options)
        with Recorder(FrameSource(screen), folder, settings) as recorder:
            before = used(resource.RUSAGE_SELF)
            for name in names:
                recorder.start(name)
            print("ready", flush=True)
            sys.stdin.readline()
            asked = time.monotonic()
            video = recorder.stop(names[0]).videos[0]
            playable = time.monotonic() - asked
            while not index_first(video) and time.monotonic() < asked + 10:
                time.sleep(0.001)
            facts = {
                "cpu_s": used(resource.RUSAGE_SELF) - before,
                "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "rss_after_mb": psutil.Process().memory_info().rss / 2**20,
                "bytes": video.stat().st_size,
                "video_s": Catalog(folder).get(names[0])["video_s"],
                "playable_ms": playable * 1000,
                "index_in_front_ms": (time.monotonic() - asked) * 1000,
            }
        print(json.dumps(facts), flush=True)


def index_first(video: Path) -> bool:
    """Return whether the index (``moov``) is before the pictures (``mdat``) in a file."""
    with video.open("rb") as file:
        kinds = [box.kind for box in outermost(file.fileno())]
    return kinds.index(b"moov") < kinds.index(b"mdat")


def used(whose: int) -> float:
    """Return the CPU seconds of this process, or of its children that have ended."""
    usage = resource.getrusage(whose)
    return usage.ru_utime + usage.ru_stime


def grabbed(preset: str, rate: int, *, speed_up: bool) -> Way:
    """Return a recording by FFmpeg's x11grab."""

    @contextmanager
    def way(stage: Stage) -> Iterator[Take]:
        video = stage.folder / f"{preset}-{rate}.mp4"
        command = ["ffmpeg", "-v", "error", "-y", "-f", "x11grab", "-framerate", str(rate)]
        command += ["-video_size", "1920x1080", "-i", stage.server.display, "-c:v", "libx264"]
        command += ["-preset", preset, "-pix_fmt", "yuv420p", str(video)]
        take = Take(video=video)
        before = used(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(command, env=os.environ | stage.environment)
        yield take
        asked = time.time()
        take.facts["rss_mb"] = psutil.Process(process.pid).memory_info().rss / 2**20
        process.send_signal(signal.SIGINT)
        process.wait()
        long = length(video)
        take.began, take.times = asked - long, TimeMap(((0.0, 0.0), (long, long)))
        if speed_up:
            take.video, take.times = sped_up(video, long)
        take.facts["playable_ms"] = (time.time() - asked) * 1000
        take.facts["cpu_s"] = used(resource.RUSAGE_CHILDREN) - before
        take.facts["bytes"] = take.video.stat().st_size
        take.facts["video_s"] = length(take.video)

    return way


def sped_up(video: Path, end: float) -> tuple[Path, TimeMap]:
    """Encode a video again so that what freezedetect reports as frozen plays 20 times faster."""
    found = subprocess.run(
        ["ffmpeg", "-i", video, "-vf", "freezedetect=n=-38dB:d=0.35", "-f", "null", "-"],
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    starts = [float(at) for at in re.findall(r"freeze_start: ([\d.]+)", found)]
    ends = [float(at) for at in re.findall(r"freeze_end: ([\d.]+)", found)]
    pieces, at = [], 0.0
    for start, stop in [*zip(starts, [*ends, end], strict=False), (end, end)]:
        pieces += [(at, start, 1), (start, stop, 20)]
        at = stop
    cuts = [piece for piece in pieces if piece[1] - piece[0] > 0.01]
    graph = "".join(
        f"[0:v]trim={a}:{b},setpts=(PTS-STARTPTS)/{factor}[v{i}];"
        for i, (a, b, factor) in enumerate(cuts)
    )
    graph += "".join(f"[v{i}]" for i in range(len(cuts))) + f"concat=n={len(cuts)}:v=1:a=0"
    target = video.with_suffix(".fast.mp4")
    command = ["ffmpeg", "-v", "error", "-y", "-i", str(video), "-filter_complex", graph]
    command += ["-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", str(target)]
    subprocess.run(command, check=True)
    points = [(0.0, 0.0)]
    for start, stop, factor in cuts:
        points.append((stop, points[-1][1] + (stop - start) / factor))
    return target, TimeMap(tuple(points))


def length(video: Path) -> float:
    """Return the duration of a video in seconds."""
    asked = ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0"]
    return float(subprocess.run([*asked, video], capture_output=True, check=True).stdout)


GRABS: dict[str, Way] = {
    "x11grab 30, freezedetect": grabbed("ultrafast", 30, speed_up=True),
    "x11grab 15": grabbed("veryfast", 15, speed_up=False),
}
