"""Measure clips and pictures of run videos: in a worker of the decoder, and in this process.

Both ways take turns, so that a busy machine slows both. The first request, which loads the video
library, is not counted. Usage: python -m bench.decoder [--times 40]
"""

import argparse
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


def main() -> None:
    """Print the medians in milliseconds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=40)
    times = parser.parse_args().times
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
        for number in range(times + 1):
            for name, work in ways.items():
                began = time.perf_counter()
                work()
                if number:
                    took[name].append(1000 * (time.perf_counter() - began))
        for name, values in took.items():
            print(f"{name:16} median {median(values):6.1f} ms, least {min(values):6.1f} ms")


if __name__ == "__main__":
    main()
