"""Long versions of tests of recordings: the limit of a file's size, and a large index.

Usage: python -m bench.soak_recording [--cap 104857600] [--parts 2]
"""

import argparse
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from bench.tables import save
from deskhand.recording.library.catalog import Catalog
from deskhand.recording.library.faststart import move_index
from deskhand.recording.pipeline.engine import RecordingEngine
from deskhand.recording.ports import CapturedFrame
from deskhand.recording.settings import RecordingSettings
from deskhand.recording.timing.size_budget import QUALITY_LEVELS
from deskhand.recording.video.encoder import Encoder
from deskhand.recording.video.mp4_file import Mp4File
from tests.recording.fakes import decoded

Facts = dict[str, Any]
NAME = "a1111111-2222-3333-4444-555555555555"
SIZE = (1080, 1920)
WHOLE = ((0, 0, 1920, 1080),)


def noise(seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Return a picture of noise, which no encoder can compress."""
    return np.random.default_rng(seed).integers(0, 255, (*SIZE, 4), dtype=np.uint8)


def fill(folder: Path, cap: int, wanted: int) -> Facts:
    """Record noise at the full rate until so many parts are full."""
    settings = RecordingSettings(
        free_to_start=0, free_to_go_on=0, largest_file=cap, animation_after=1e6
    )
    catalog = Catalog(folder)
    engine = RecordingEngine(catalog, settings, time.time())
    engine.start(NAME, "", 0.0)
    pictures = [noise(seed) for seed in range(8)]
    now, levels, frames = 0.0, set(), 0
    for turn in count():
        engine.add_frame(CapturedFrame(pictures[turn % len(pictures)], now, WHOLE))
        frames += 1
        levels.add(engine.fps)
        now += 1 / engine.fps
        engine.tick(now)
        if turn % 15 == 0 and len(catalog.latest_session(NAME)) > wanted:
            break
    engine.stop(NAME, now, "completed")
    facts = catalog.get(NAME)
    sizes = [part["bytes"] for part in facts["parts"]]
    reasons = [part["end_reason"] for part in facts["parts"]]
    assert max(sizes) <= cap, sizes
    assert reasons == ["cap"] * wanted + ["completed"], reasons
    assert facts["complete"]
    shown = sum(len(decoded(catalog.video(NAME, part["index"]))) for part in facts["parts"])
    assert shown >= frames, (shown, frames)
    print(f"noise: {now:.0f} s, {frames} frames at {sorted(levels)} fps, parts of {sizes} bytes")
    return {"cap": cap, "seconds": round(now), "frames": frames, "bytes": sizes, "ends": reasons}


def carry(folder: Path, size: int) -> Facts:
    """Time closing, and moving the index of, a file of that size."""
    path = folder / "large.mp4"
    with Encoder((SIZE[1], SIZE[0]), QUALITY_LEVELS[0], 8_000_000) as encoder:
        encoded = [encoder.encode(noise(n), n / 10, key=n == 0) for n in range(8)]
        video_file = Mp4File(path, encoder.stream)
        for at in count():
            one = encoded[at % len(encoded)]
            video_file.write(one.data, key=one.key, at=at * 66)
            if video_file.size > size:
                break
        before = time.monotonic()
        video_file.close()
        closed = time.monotonic()
    assert move_index(path, spare=0)
    facts = {
        "bytes": path.stat().st_size,
        "closed_ms": round(1000 * (closed - before), 1),
        "index_in_front_ms": round(1000 * (time.monotonic() - closed), 1),
    }
    print(f"index: {facts}")
    return facts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cap", type=int, default=104_857_600)
    parser.add_argument("--parts", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        moved = [carry(Path(place), size) for size in (20_000_000, 100_000_000)]
        noisy = fill(Path(place) / "noise", options.cap, options.parts)
    save("soak_recording", {"index": moved, "noise": noisy})


if __name__ == "__main__":
    main()
