"""Clips and single frames of finished or growing videos.

A clip copies the packets of its stretches without encoding them again (a remux). A stretch that
begins between two keyframes includes the packets since the keyframe before, with time stamps below
0 at the beginning of the clip: the edit list of the MP4 file makes players decode but not show
them.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

import av
import av.subtitles.stream  # at the first cut otherwise, when it may be unreadable
import numpy as np
from av.container import InputContainer, OutputContainer
from av.packet import Packet
from av.video.stream import VideoStream
from numpy.typing import NDArray

from deskhand.recording.errors import RecordingFailed, UnreadableVideo

from .encoder import TIME_BASE, parameter_sets
from .jpeg import downscaled, jpeg

Video = Path | int
"""The path of a file, or a descriptor that can be read and positioned."""


class Stretch(NamedTuple):
    """Part of one file; seconds of its own video."""

    video: Video
    start: float
    end: float


class _PlacedPacket(NamedTuple):
    packet: "Packet[VideoStream]"
    at: int
    """Milliseconds of the clip; below 0 for packets that are decoded and not shown."""


def tag(stretches: Sequence[Stretch]) -> str:
    """Return an entity tag for a clip without cutting it.

    The tag covers the identity of the files (inode, time of modification, size) and the moments.
    """
    known = hashlib.sha256()
    for stretch in stretches:
        facts = os.stat(stretch.video)  # noqa: PTH116 - it may be a descriptor
        moments = (stretch.start.hex(), stretch.end.hex())
        known.update(repr((facts.st_ino, facts.st_mtime_ns, facts.st_size, *moments)).encode())
    return known.hexdigest()[:32]


def cut(stretches: Sequence[tuple[Video, float, float]], target: Path) -> None:
    """Copy stretches one after the other into a new file, without encoding anything again.

    A stretch that begins between two keyframes includes the frames since the previous keyframe,
    which players decode and do not show.

    Raises:
        RecordingFailed: If two of them have different sizes.
        UnreadableVideo: If a file contains no video.
    """
    try:
        _write([Stretch(*stretch) for stretch in stretches], target)
    except (av.FFmpegError, IndexError) as error:
        raise UnreadableVideo(video_name(stretches[0][0]), str(error)) from error


def _write(stretches: Sequence[Stretch], target: Path) -> None:
    options = {"movflags": "faststart", "video_track_timescale": "1000"}
    with av.open(str(target), "w", format="mp4", container_options=options) as clip:
        stream: VideoStream | None = None
        offset = 0.0
        for stretch in stretches:
            with closing(open_video(stretch.video)) as source:
                found = source.streams.video[0]
                stream = stream or clip.add_stream_from_template(found)
                # An MP4 track has one avcC box, so all packets need the same parameter sets.
                if parameter_sets(found) != parameter_sets(stream):
                    raise RecordingFailed("its parts have different sizes")
                _copy(source, stretch, clip, stream, round(offset * 1000))
            offset += stretch.end - stretch.start


def _copy(
    source: InputContainer,
    stretch: Stretch,
    clip: OutputContainer,
    stream: VideoStream,
    offset: int,
) -> None:
    until = offset + round((stretch.end - stretch.start) * 1000)
    for placed, following in pairwise(chain(_placed_packets(source, stretch, offset), [None])):
        if placed is None:
            return
        # Packets before a later stretch would have time stamps below those written already.
        if offset and placed.at < offset:
            raise RecordingFailed("a part does not begin with a keyframe")
        # The last frame lasts to the end of the stretch, and at least one millisecond.
        end = following.at if following is not None else max(until, placed.at + 1)
        # The frame that is visible when the clip begins was captured before, so it moves to 0.
        at = 0 if placed.at < 0 < end else placed.at
        packet: Packet[Any] = placed.packet
        packet.time_base = TIME_BASE
        packet.pts = packet.dts = at
        packet.duration = end - at
        packet.stream = stream
        clip.mux_one(packet)


def _placed_packets(
    source: InputContainer, stretch: Stretch, offset: int
) -> Iterator[_PlacedPacket]:
    stream = source.streams.video[0]
    for packet in from_keyframe(source, stream, stretch.start):
        shown = float((packet.pts or 0) * packet.time_base)
        if shown >= stretch.end:
            return
        yield _PlacedPacket(packet, offset + round((shown - stretch.start) * 1000))


def picture(video: Video, at: float) -> NDArray[np.uint8]:
    """Decode the frame that a video shows at a moment: B, G, R and one byte, a pixel.

    Raises:
        UnreadableVideo: If the file contains no frame.
    """
    try:
        with closing(open_video(video)) as source:
            stream = source.streams.video[0]
            last = None
            for packet in from_keyframe(source, stream, at):
                # A frame is visible until the next one; 1 ms is the resolution of the time stamps.
                if last is not None and float((packet.pts or 0) * packet.time_base) > at + 0.001:
                    break
                for frame in packet.decode():
                    last = frame
            if last is None:
                raise UnreadableVideo(video_name(video), "no picture")
            return cast("NDArray[np.uint8]", last.to_ndarray(format="bgra"))
    except (av.FFmpegError, IndexError) as error:
        raise UnreadableVideo(video_name(video), str(error)) from error


def still(video: Video, at: float) -> bytes:
    """Return a small JPEG of a moment.

    Raises:
        UnreadableVideo: If the file contains no frame.
    """
    return jpeg(downscaled(picture(video, at)))


def open_video(video: Video) -> InputContainer:
    """Open a video; the caller closes it."""
    if isinstance(video, Path):
        return av.open(str(video))
    # FFmpeg duplicates the descriptor, and all duplicates have one position (dup(2)).
    os.lseek(video, 0, os.SEEK_SET)
    return av.open("fd:", options={"fd": str(video)})


def video_name(video: Video) -> str:
    """Return the name of a video for messages."""
    return video.name if isinstance(video, Path) else "the video"


def from_keyframe(
    source: InputContainer, stream: VideoStream, at: float
) -> Iterator["Packet[VideoStream]"]:
    """Iterate over the packets since the last keyframe that is not later than ``at``."""
    # FFmpeg seeks backwards, to the last keyframe before the moment.
    source.seek(round(max(0.0, at) / (stream.time_base or TIME_BASE)), stream=stream)
    for packet in source.demux(stream):
        if packet.pts is not None:
            yield packet
