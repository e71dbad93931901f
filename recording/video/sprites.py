"""Sprites: small frames of videos side by side in one JPEG, for film strips."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import groupby
from typing import NamedTuple

import av
from av.container import InputContainer
from PIL import Image

from deskhand.recording.errors import UnreadableVideo

from .clips import Video, open_video, video_name
from .jpeg import Thumbnail, jpeg


class Moment(NamedTuple):
    """Moment of one file; seconds of its own video."""

    video: Video
    at: float


def sprite(moments: Sequence[Moment], *, columns: int, tile: tuple[int, int], exact: bool) -> bytes:
    """Return a JPEG with one frame for each moment; those of one video must be in order.

    ``tile`` is the size of a frame in pixels; ``columns`` of them are beside each other. Without
    ``exact`` only keyframes are decoded: each frame is the last one before its moment. The recorder
    writes one after each step, and at least one every ten seconds.

    Raises:
        UnreadableVideo: If a file contains no frame.
    """
    rows = -(-len(moments) // columns)
    whole = Image.new("RGB", (tile[0] * min(columns, len(moments)), tile[1] * rows))
    frames = (
        frame
        for video, group in groupby(moments, lambda moment: moment.video)
        for frame in _frames(video, [moment.at for moment in group], tile, exact=exact)
    )
    for index, frame in enumerate(frames):
        row, column = divmod(index, columns)
        whole.paste(frame, (column * tile[0], row * tile[1]))
    return jpeg(whole)


def _frames(
    video: Video, times: Sequence[float], tile: tuple[int, int], *, exact: bool
) -> Iterator[Thumbnail]:
    try:
        with closing(open_video(video)) as source:
            yield from _shown(source, times, tile, exact=exact)
    except (av.FFmpegError, IndexError) as error:
        raise UnreadableVideo(video_name(video), str(error)) from error


def _shown(
    source: InputContainer, times: Sequence[float], tile: tuple[int, int], *, exact: bool
) -> Iterator[Thumbnail]:
    stream = source.streams.video[0]
    if not exact:
        stream.codec_context.skip_frame = "NONKEY"
    frames = source.decode(stream)
    shown, following = next(frames, None), next(frames, None)
    if shown is None:
        raise UnreadableVideo("the video", "no picture")
    small: Thumbnail | None = None
    for at in times:
        # 1 ms is the resolution of the time stamps.
        while following is not None and (following.time or 0.0) <= at + 0.001:
            shown, following, small = following, next(frames, None), None
        if small is None:
            pixels = shown.reformat(*tile, format="rgb24").to_ndarray()
            small = Image.fromarray(pixels)
        yield small
