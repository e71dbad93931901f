"""Record the same scenes in several ways, one after the other on one display, and compare them.

In ``mixed`` a quarter is activity (typing, scrolling, pointer) and the rest idle; ``idle`` is the
same minute with nine idle ones behind it; in ``animated`` a page moves all the time. There our
recorder also runs with the encoder options of before, and both are compared on the same frames.
A minute of the animation has goals; the exit status is 1 if one is missed on a quiet machine.
Scenes that are as long as those whose results are kept replace them; shorter ones are printed
only. All three in full length take about fifty minutes.
Usage: python -m bench.recording [--seconds 60] [--idle-seconds 600] [--scenes mixed,idle,animated]
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from bench.recording_encoders import BEFORE, compared, grey
from bench.recording_scenes import ANIMATION, Activity, Stage, legibility
from bench.recording_ways import GRABS, Take, Way, ours, record
from bench.tables import RESULTS, exit_status, is_quiet, save
from deskhand.desktop.display.child_processes import ChildProcessSpawner
from deskhand.desktop.display.x_server import XServer
from deskhand.desktop.geometry import Point, Size
from deskhand.desktop.input.events import PointerMotion
from deskhand.desktop.input.xtest import XTestInput
from deskhand.recording.settings import EncoderOptions
from deskhand.recording.video.encoder import STANDARD

OURS = "ours"
EARLIER = "ours, options before"
GRAB = "x11grab 15"
ALL = {OURS: ours(1), "ours, 5 at once": ours(5), **GRABS}
ANIMATED = {OURS: ALL[OURS], EARLIER: ours(1, BEFORE), **ALL}
MINUTE = 60.0
CPU_GOAL = 10.0
"""Seconds of CPU for a minute of constant motion, with the X server."""
GRAB_GOAL = 4.0
"""Factor by which x11grab costs more."""
SSIM_NOISE = 0.001
TERMINAL = ("xterm", "-geometry", "300x80+0+0", "-e", "sh")
BROWSER = ("chromium", "--no-sandbox", "--disable-gpu", "--no-first-run", "--kiosk")

Scene = Callable[[float], list[Activity]]
Facts = dict[str, Any]


def measured(stage: Stage, way: Way, scene: Scene, seconds: float) -> Facts:
    """Return the costs of recording a scene, and the quality of the video."""
    with way(stage) as take:
        time.sleep(0.5)
        x_before = stage.x_cpu()
        activities = scene(seconds)
        x_spent = stage.x_cpu() - x_before
        screen = stage.look()
    facts: Facts = {"x_cpu_s": round(x_spent, 3)}
    facts |= {name: round(value, 3) for name, value in take.facts.items()}
    facts["total_cpu_s"] = round(take.facts["cpu_s"] + x_spent, 3)
    if activities:
        facts["text_ssim"] = round(legibility(grey(screen), last_picture(take.video)), 4)
        facts["speed"] = {one.name: speed(take, one) for one in activities}
    return facts


def speed(take: Take, activity: Activity) -> float:
    """Return the factor by which the video plays an activity faster than it happened."""
    start, end = activity.start - take.began, activity.end - take.began
    shown = take.times.video(end) - take.times.video(start)
    return round((end - start) / max(shown, 0.001), 2)


def last_picture(video: Path) -> NDArray[np.uint8]:
    with av.open(str(video)) as video_file:
        for picture in video_file.decode(video=0):
            last = picture
        return last.to_ndarray(format="gray").astype(np.uint8)


def scenes(stage: Stage, options: argparse.Namespace) -> dict[str, dict[str, Facts]]:
    results = {}
    wanted = options.scenes.split(",")
    end = stage.open(*TERMINAL)
    for name, length in (("mixed", options.seconds), ("idle", options.idle_seconds)):
        if name in wanted:
            results[name] = {
                way: measured(stage, ALL[way], short(stage, options.seconds), length) for way in ALL
            }
    end()
    if "animated" in wanted:
        page = stage.folder / "animation.html"
        page.write_text(ANIMATION)
        end = stage.open(*BROWSER, f"--user-data-dir={stage.folder}/profile", page.as_uri())
        results["animated"] = {
            name: measured(stage, way, stage.watch, options.seconds)
            for name, way in ANIMATED.items()
        }
        for name, facts in compared(stage, {OURS: STANDARD, EARLIER: BEFORE}).items():
            results["animated"][name] |= facts
        end()
    return results


def short(stage: Stage, active: float) -> Scene:
    """Return the mixed scene, followed by idleness for the rest of the time."""

    def scene(seconds: float) -> list[Activity]:
        done = stage.mixed(active)
        time.sleep(max(0.0, seconds - active))
        return done

    return scene


def missed(animated: dict[str, Facts]) -> list[str]:
    """Return the goals that a minute of constant motion missed."""
    cost, before = animated[OURS], animated[EARLIER]
    goals = {
        f"{CPU_GOAL:.0f} s of CPU": cost["total_cpu_s"] <= CPU_GOAL,
        f"x11grab {GRAB_GOAL:.0f}x": animated[GRAB]["total_cpu_s"]
        >= GRAB_GOAL * cost["total_cpu_s"],
        "the same SSIM": cost["text_ssim"] >= before["text_ssim"] - SSIM_NOISE,
        "less CPU a frame than before": cost["frame_cpu_ms"] <= before["frame_cpu_ms"],
    }
    return [goal for goal, reached in goals.items() if not reached]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--idle-seconds", type=float, default=600.0)
    parser.add_argument("--scenes", default="mixed,animated")
    parser.add_argument("--record", type=Path)
    parser.add_argument("--recordings", type=int, default=1)
    parser.add_argument("--preset", default=STANDARD.preset)
    parser.add_argument("--params", default=STANDARD.params)
    options = parser.parse_args()
    if options.record is not None:
        encoder = EncoderOptions(preset=options.preset, params=options.params)
        record(options.record, options.recordings, encoder)
        return 0
    environment = {"PATH": os.environ["PATH"]}
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place,
        ChildProcessSpawner() as spawner,
        XServer(Path(place), Size(1920, 1080), environment, spawner) as server,
        XTestInput(server.display, server.xauthority) as input_device,
    ):
        input_device.perform([PointerMotion(Point(400, 400))])
        results = scenes(Stage(Path(place), server, input_device, spawner), options)
    keep(results, {"idle": options.idle_seconds}, options.seconds)
    judged = "animated" in results and options.seconds >= MINUTE
    return exit_status(missed(results["animated"]) if judged else [], quiet=is_quiet())


def keep(results: dict[str, dict[str, Facts]], lengths: dict[str, float], usual: float) -> None:
    """Print all scenes, and save those that are at least as long as the saved ones."""
    file = RESULTS / "recording.json"
    found: Facts = json.loads(file.read_text()) if file.exists() else {}
    seconds, scenes = found.get("seconds", {}), found.get("scenes", {})
    for scene, ways in results.items():
        length = lengths.get(scene, usual)
        show(f"{scene}, {length:.0f} s", ways)
        if length < seconds.get(scene, 0.0):
            print(f"  not kept: there are results of {seconds[scene]:.0f} s")
        else:
            seconds[scene], scenes[scene] = length, ways
            save("recording", {"seconds": seconds, "scenes": scenes})


def show(title: str, ways: dict[str, Facts]) -> None:
    """Print the costs, the quality and the speeds of each way."""
    ours_cost = max(ways[OURS]["total_cpu_s"], 0.001)
    print(f"{title}:")
    print(
        f"  {'':26}{'cpu':>8}{'ours':>7}{'memory':>8}{'file':>9}{'video':>8}{'playable':>10}"
        f"{'text':>7}  plays faster"
    )
    for name, facts in ways.items():
        speeds = facts.get("speed", {}).items()
        print(
            f"  {name:26}{facts['total_cpu_s']:6.2f} s{facts['total_cpu_s'] / ours_cost:6.1f}x"
            f"{facts['rss_mb']:5.0f} MB{facts['bytes'] / 1000:6.0f} kB{facts['video_s']:6.1f} s"
            f"{facts['playable_ms']:7.0f} ms{facts.get('text_ssim', '-'):>7}  "
            + (", ".join(f"{what} {factor:g}x" for what, factor in speeds) or "-")
        )
        if "frame_cpu_ms" in facts:
            print(
                f"  {'':26}same frames: {facts['frame_cpu_ms']} ms of CPU each,"
                f" {facts['encoded_bytes'] / 1000:.0f} kB;"
                f" memory after {facts['rss_after_mb']:.0f} MB"
            )


if __name__ == "__main__":
    sys.exit(main())
