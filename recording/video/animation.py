"""Animations, GIF or WebP, of stretches of videos."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from io import BytesIO
from typing import Any, Literal, NamedTuple, cast

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from deskhand.recording.errors import UnreadableVideo

from .clips import Stretch, from_keyframe, open_video, video_name

AnimationFormat = Literal["gif", "webp"]

HIGHEST_RATE = 10.0
"""Frames a second."""
MOST_PIXELS = 60_000_000
"""Of all frames together, as all are in memory while they are encoded."""
COLOURS = 128
"""Of a frame of a GIF."""
WEBP_QUALITY = 70


class _Shown(NamedTuple):
    picture: Image.Image
    milliseconds: int


def animation(
    stretches: Sequence[Stretch], kind: AnimationFormat, width: int, most_bytes: int
) -> bytes:
    """Return stretches, one after the other, as an animation at most ``width`` pixels wide.

    Its frame rate is lowered until it has at most ``most_bytes``.

    Raises:
        UnreadableVideo: If a file contains no video.
    """
    shown: list[_Shown] = []
    rate = HIGHEST_RATE
    try:
        for stretch in stretches:
            for one in _frames(stretch, kind, width, rate):
                shown.append(one)
                if sum_of_pixels(shown) > MOST_PIXELS:
                    shown, rate = thinned(shown), rate / 2
    except (av.FFmpegError, IndexError) as error:
        raise UnreadableVideo(video_name(stretches[0].video), str(error)) from error
    if not shown:
        raise UnreadableVideo(video_name(stretches[0].video), "no picture")
    data = _encoded(shown, kind)
    while len(data) > most_bytes and len(shown) > 1:
        shown = thinned(shown)
        data = _encoded(shown, kind)
    return data


def sum_of_pixels(shown: Sequence[_Shown]) -> int:
    """Return the pixels of all frames."""
    return sum(one.picture.width * one.picture.height for one in shown)


def thinned(shown: Sequence[_Shown]) -> list[_Shown]:
    """Return every second frame, shown as long as it and the one after it were."""
    pairs = [shown[number : number + 2] for number in range(0, len(shown), 2)]
    # The later picture is the state that the next change begins with.
    return [_Shown(pair[-1].picture, sum(one.milliseconds for one in pair)) for pair in pairs]


def _frames(stretch: Stretch, kind: AnimationFormat, width: int, rate: float) -> Iterator[_Shown]:
    # Time stamps are whole milliseconds.
    slot = 1 / rate - 0.001
    with closing(open_video(stretch.video)) as source:
        stream = source.streams.video[0]
        # A video has a frame where the screen changed, so that frames are far apart or close.
        pixels: NDArray[np.uint8] | None = None
        began = stretch.start
        for packet in from_keyframe(source, stream, stretch.start):
            at = float((packet.pts or 0) * packet.time_base)
            if at >= stretch.end:
                break
            if pixels is not None and at - began >= slot:
                yield _Shown(_picture(pixels, kind, width), round((at - began) * 1000))
                began = at
            for frame in packet.decode():
                pixels = cast("NDArray[np.uint8]", frame.to_ndarray(format="bgra"))
        if pixels is not None:
            left = max(stretch.end - began, 0.02)
            yield _Shown(_picture(pixels, kind, width), round(left * 1000))


def _picture(pixels: NDArray[np.uint8], kind: AnimationFormat, width: int) -> Image.Image:
    height, whole = pixels.shape[:2]
    flat = np.ascontiguousarray(pixels)
    picture = Image.frombuffer("RGB", (whole, height), flat, "raw", "BGRX")
    if whole > width:
        picture = picture.resize((width, max(1, height * width // whole)))
    if kind == "gif":
        return picture.quantize(COLOURS, Image.Quantize.FASTOCTREE)
    return picture


def _encoded(shown: Sequence[_Shown], kind: AnimationFormat) -> bytes:
    to = BytesIO()
    first, *rest = shown
    options: dict[str, Any] = {} if kind == "gif" else {"quality": WEBP_QUALITY, "method": 2}
    first.picture.save(
        to,
        kind,
        save_all=True,
        append_images=[one.picture for one in rest],
        # Browsers show frames of a GIF that are shorter than 20 ms for 100 ms.
        duration=[max(one.milliseconds, 20) for one in shown],
        loop=0,
        **options,
    )
    return to.getvalue()
