"""Measure clips and pictures of run videos: in a worker of the decoder, and in this process.

Both ways take turns, so that a busy machine slows both. The first request, which loads the video
library, is not counted. CPU is the mean of all processes, also for the preparation of the next
worker, which happens in the pause. Usage: python -m bench.decoder [--times 40] [--pause 0.1]
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import av
import numpy as np

from deskhand.recording.video import clips
from deskhand.tools.decoder.decoder import Decoder

SECONDS = 4
RATE = 15


def video(path: Path) -> None:
    """Write a video of a moving block, without B-frames as the recorder's."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=RATE, options={"bf": "0"})
        stream.width, stream.height, stream.pix_fmt = 1920, 1080, "yuv420p"
        for number in range(SECONDS * RATE):
            pixels = np.full((1080, 1920, 3), 220, np.uint8)
            pixels[300:600, 20 * number : 20 * number + 300] = 40
            for packet in stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")):
                container.mux_one(packet)
        for packet in stream.encode():
            container.mux_one(packet)


def spent() -> float:
    """Return the seconds of CPU of this process and of the decoder with its ended workers."""
    found = time.process_time()
    for listed in Path("/proc/self/task").glob("*/children"):
        for child in listed.read_text().split():
            fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            # utime, stime, cutime and cstime (proc_pid_stat(5)).
            found += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return found


def main() -> None:
    """Print the times in milliseconds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--pause", type=float, default=0.1)
    arguments = parser.parse_args()
    times: int = arguments.times
    with tempfile.TemporaryDirectory() as folder, Decoder() as decoder:
        source, target = Path(folder, "video.mp4"), Path(folder, "clip.mp4")
        video(source)
        ways: dict[str, Callable[[], object]] = {
            "picture, here": lambda: clips.still(source, 0.2),
            "picture, worker": lambda: decoder.still(source, 0.2),
            "clip, here": lambda: clips.cut([(source, 0.5, 2.5)], target),
            "clip, worker": lambda: decoder.cut([(source, 0.5, 2.5)], target),
        }
        took: dict[str, list[float]] = {name: [] for name in ways}
        used: dict[str, float] = dict.fromkeys(ways, 0.0)
        for number in range(times + 1):
            for name, work in ways.items():
                before, began = spent(), time.perf_counter()
                work()
                ended = time.perf_counter()
                time.sleep(arguments.pause)
                if number:
                    took[name].append(1000 * (ended - began))
                    used[name] += 1000 * (spent() - before)
        for name, values in took.items():
            wall = f"median {median(values):6.1f} ms, least {min(values):6.1f} ms"
            print(f"{name:16} {wall}; CPU {used[name] / times:6.1f} ms")


if __name__ == "__main__":
    main()
