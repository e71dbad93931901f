"""Options of the encoder, compared on the same frames of a screen."""

import time
from pathlib import Path
from statistics import mean, median
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from bench.recording_scenes import Stage, legibility
from deskhand.desktop.capture.framebuffer import Framebuffer
from deskhand.recording.settings import EncoderOptions
from deskhand.recording.timing.size_budget import QUALITY_LEVELS
from deskhand.recording.video.encoder import Encoder, parameter_sets

Picture = NDArray[np.uint8]

BEFORE = EncoderOptions(preset="veryfast", params="subme=0:me=dia:weightp=0")
"""Options of recordings at 56170d28, the baseline of the same run."""

FRAMES = 30
RATE = 5
"""Frames a second, as in the recording of an animation."""

REPEATS = 3
COMPARED_EVERY = 6


def compared(stage: Stage, ways: dict[str, EncoderOptions]) -> dict[str, dict[str, Any]]:
    """Encode what the screen shows in several ways, in turns; return CPU, size and similarity."""
    frames = _seen(stage)
    times: dict[str, list[float]] = {name: [] for name in ways}
    found: dict[str, dict[str, Any]] = {}
    for _ in range(REPEATS):
        for name, options in ways.items():
            spent, packets, header = _encoded(frames, options)
            times[name].append(spent)
            if name not in found:
                found[name] = {
                    "encoded_bytes": sum(map(len, packets)),
                    "text_ssim": round(_similarity(frames, packets, header), 4),
                }
    for name, facts in found.items():
        facts["frame_cpu_ms"] = round(median(times[name]) * 1000 / FRAMES, 2)
    return found


def grey(pixels: Picture) -> Picture:
    """Return BGRX pixels as a grey picture."""
    return av.VideoFrame.from_ndarray(pixels, "bgra").to_ndarray(format="gray").astype(np.uint8)


def _seen(stage: Stage) -> list[Picture]:
    frames = []
    with Framebuffer(stage.server.display, Path(stage.server.xauthority)) as screen:
        for _ in range(FRAMES):
            frames.append(screen.frame().pixels.copy())
            time.sleep(1 / RATE)
    return frames


def _encoded(frames: list[Picture], options: EncoderOptions) -> tuple[float, list[bytes], bytes]:
    """Return the CPU seconds of conversion and encoding, the access units and their header."""
    height, width = frames[0].shape[:2]
    with Encoder((width, height), QUALITY_LEVELS[0], 8_000_000, options) as encoder:
        began = time.process_time()
        packets = [
            encoder.encode(pixels, 1 + turn / RATE, key=turn == 0).data
            for turn, pixels in enumerate(frames)
        ]
        return time.process_time() - began, packets, parameter_sets(encoder.stream)


def _similarity(frames: list[Picture], packets: list[bytes], header: bytes) -> float:
    decoder = av.CodecContext.create("h264", "r")
    decoder.extradata = header
    shown = [
        picture.to_ndarray(format="gray").astype(np.uint8)
        for packet in (*map(av.Packet, packets), None)
        for picture in decoder.decode(packet)
    ]
    pairs = list(zip(frames, shown, strict=True))[::COMPARED_EVERY]
    return mean(legibility(grey(pixels), picture) for pixels, picture in pairs)
