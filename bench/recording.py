"""Records the same scene three ways, one after the other on one display, and compares the cost.

A third of the scene is activity (typing, scrolling, pointer), the rest is idle. The others are
FFmpeg's x11grab at 30 frames a second with a second pass that speeds up what freezedetect calls
frozen, and x11grab at 15 without one.
Usage: python -m bench.recording [--seconds 60]
"""

import argparse
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from bench.tables import save
from desktop.footage import Footage
from desktop.framebuffer import Framebuffer
from desktop.geometry import Point, Size
from desktop.input import XTestHands
from desktop.spawn import Order, Spawner
from desktop.strokes import Move, Tap
from desktop.xserver import XServer
from recording.catalogue import Catalogue
from recording.container import outermost
from recording.recorder import Recorder
from recording.settings import RecordingSettings

NATIVE = Size(1920, 1080)
NAME = "a1111111-2222-3333-4444-555555555555"
OURS = "ours"
Facts = dict[str, Any]
Way = Callable[["Stage"], Iterator[Facts]]


class Stage:
    """A display with a terminal on it, and hands."""

    def __init__(self, folder: Path, server: XServer, hands: XTestHands) -> None:
        self.folder = folder
        self.server = server
        self.hands = hands
        self.environment = {
            "PATH": os.environ["PATH"],
            "DISPLAY": server.display,
            "XAUTHORITY": str(server.xauthority),
        }

    def play(self, seconds: float) -> None:
        """Do the scene; a twelfth each of typing, scrolling and moving, the rest nothing."""
        act = seconds / 12
        self._every(0.1, act, lambda turn: self.hands.perform([Tap(ord("a") + turn % 26)]))
        for letter in "\nseq 2000\n":
            self.hands.perform([Tap(0xFF0D if letter == "\n" else ord(letter))])
        time.sleep(act)
        self._every(0.05, act, self._wander)
        time.sleep(seconds - 3 * act)

    def x_cpu(self) -> float:
        """Seconds that the X server has computed."""
        times = psutil.Process(self.server.pid or 0).cpu_times()
        return float(times.user + times.system)

    def _wander(self, turn: int) -> None:
        self.hands.perform([Move(Point(200 + 13 * turn % 1500, 200 + 7 * turn % 700))])

    def _every(self, pause: float, seconds: float, work: Callable[[int], None]) -> None:
        for turn in range(int(seconds / pause)):
            work(turn)
            time.sleep(pause)


@contextmanager
def ours(stage: Stage) -> Iterator[Facts]:
    command = [sys.executable, "-m", "bench.recording", "--record", str(stage.folder / "ours")]
    facts: Facts = {}
    with subprocess.Popen(
        command, env=os.environ | stage.environment, stdin=-1, stdout=-1, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdout.readline()
        yield facts
        child.stdin.write("stop\n")
        child.stdin.flush()
        facts |= json.loads(child.stdout.readline())


def record(folder: Path) -> None:
    """Be the recorder of ``ours``: record until a line comes, then tell what it cost."""
    with Framebuffer(os.environ["DISPLAY"], Path(os.environ["XAUTHORITY"])) as screen:
        settings = RecordingSettings(free_to_start=0, free_to_go_on=0)
        with Recorder(Footage(screen), folder, settings) as recorder:
            recorder.start(NAME)
            before = used(resource.RUSAGE_SELF)
            print("ready", flush=True)
            sys.stdin.readline()
            asked = time.monotonic()
            video = recorder.stop(NAME).videos[0]
            playable = time.monotonic() - asked
            while not index_first(video) and time.monotonic() < asked + 10:
                time.sleep(0.001)
            facts = {
                "cpu_s": used(resource.RUSAGE_SELF) - before,
                "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "bytes": video.stat().st_size,
                "video_s": Catalogue(folder).get(NAME)["video_s"],
                "playable_ms": playable * 1000,
                "index_in_front_ms": (time.monotonic() - asked) * 1000,
            }
            print(json.dumps(facts), flush=True)


def index_first(video: Path) -> bool:
    with video.open("rb") as file:
        kinds = [box.kind for box in outermost(file.fileno())]
    return kinds.index(b"moov") < kinds.index(b"mdat")


def used(whose: int) -> float:
    usage = resource.getrusage(whose)
    return usage.ru_utime + usage.ru_stime


def grabbed(preset: str, rate: int, speed_up: bool) -> Callable[[Stage], Any]:
    @contextmanager
    def way(stage: Stage) -> Iterator[Facts]:
        video = stage.folder / f"{preset}-{rate}.mp4"
        command = ["ffmpeg", "-v", "error", "-y", "-f", "x11grab", "-framerate", str(rate)]
        command += ["-video_size", "1920x1080", "-i", stage.server.display, "-c:v", "libx264"]
        command += ["-preset", preset, "-pix_fmt", "yuv420p", str(video)]
        facts: Facts = {}
        before = used(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(command, env=os.environ | stage.environment)
        yield facts
        asked = time.monotonic()
        facts["rss_mb"] = psutil.Process(process.pid).memory_info().rss / 2**20
        process.send_signal(signal.SIGINT)
        process.wait()
        if speed_up:
            video = sped_up(video)
        facts["playable_ms"] = (time.monotonic() - asked) * 1000
        facts["cpu_s"] = used(resource.RUSAGE_CHILDREN) - before
        facts["bytes"] = video.stat().st_size
        facts["video_s"] = length(video)

    return way


def sped_up(video: Path) -> Path:
    """A second pass: what freezedetect calls frozen plays twenty times faster."""
    found = subprocess.run(
        ["ffmpeg", "-i", video, "-vf", "freezedetect=n=-38dB:d=0.35", "-f", "null", "-"],
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    end = length(video)
    starts = [float(at) for at in re.findall(r"freeze_start: ([\d.]+)", found)]
    ends = [float(at) for at in re.findall(r"freeze_end: ([\d.]+)", found)]
    frozen = list(zip(starts, [*ends, end], strict=False))
    pieces, at = [], 0.0
    for start, stop in [*frozen, (end, end)]:
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
    return target


def length(video: Path) -> float:
    asked = ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0"]
    return float(subprocess.run([*asked, video], capture_output=True, check=True).stdout)


WAYS: dict[str, Callable[[Stage], Any]] = {
    OURS: ours,
    "x11grab 30, freezedetect": grabbed("ultrafast", 30, speed_up=True),
    "x11grab 15": grabbed("veryfast", 15, speed_up=False),
}


def measured(stage: Stage, way: Callable[[Stage], Any], seconds: float) -> Facts:
    with way(stage) as facts:
        time.sleep(0.5)
        x_before = stage.x_cpu()
        stage.play(seconds)
        facts["x_cpu_s"] = stage.x_cpu() - x_before
    return {name: round(value, 3) for name, value in facts.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--record", type=Path)
    options = parser.parse_args()
    if options.record is not None:
        record(options.record)
        return
    environment = {"PATH": os.environ["PATH"]}
    with (
        tempfile.TemporaryDirectory() as place,
        Spawner() as spawner,
        XServer(Path(place), NATIVE, environment, spawner) as server,
        XTestHands(server.display, server.xauthority) as hands,
    ):
        stage = Stage(Path(place), server, hands)
        log = Path(place) / "xterm.log"
        hands.perform([Move(Point(400, 400))])
        terminal = ("xterm", "-geometry", "300x80+0+0", "-e", "sh")
        spawner.spawn(Order(terminal, environment | stage.environment, log))
        time.sleep(1.0)
        results = {name: measured(stage, way, options.seconds) for name, way in WAYS.items()}
    for name, facts in results.items():
        ratio = facts["cpu_s"] / results[OURS]["cpu_s"]
        print(f"{name:26} {ratio:5.1f}x cpu  {json.dumps(facts)}")
    save("recording", {"seconds": options.seconds, "ways": results})


if __name__ == "__main__":
    main()
