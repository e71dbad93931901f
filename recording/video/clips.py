"""Pieces of finished or growing videos: a stretch as a file of its own, a moment as a picture."""

import hashlib
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


class Stretch(NamedTuple):
    """What is wanted of one file; seconds of its own video."""

    video: Path
    start: float
    end: float


class _PlacedPacket(NamedTuple):
    packet: "Packet[VideoStream]"
    at: int
    """Milliseconds of the clip; frames that are only decoded for those after lie below 0."""


def tag(stretches: Sequence[Stretch]) -> str:
    """Tells a clip from another one, without cutting it."""
    known = hashlib.sha256()
    for stretch in stretches:
        facts = stretch.video.stat()
        moments = (stretch.start.hex(), stretch.end.hex())
        known.update(repr((facts.st_ino, facts.st_mtime_ns, facts.st_size, *moments)).encode())
    return known.hexdigest()[:32]


def cut(stretches: Sequence[Stretch], target: Path) -> None:
    """Copy stretches one behind the other into a new file, without encoding anything again.

    A stretch that begins between two keyframes brings the frames since the one before, which
    players decode and do not show.

    Raises:
        RecordingFailed: If two of them have different sizes.
        UnreadableFilm: If a file holds no film.
    """
    try:
        _write(stretches, target)
    except (av.FFmpegError, IndexError) as error:
        raise UnreadableVideo(stretches[0].video.name, str(error)) from error


def _write(stretches: Sequence[Stretch], target: Path) -> None:
    options = {"movflags": "faststart", "video_track_timescale": "1000"}
    with av.open(str(target), "w", format="mp4", container_options=options) as clip:
        stream: VideoStream | None = None
        offset = 0.0
        for stretch in stretches:
            with closing(av.open(str(stretch.video))) as source:
                found = source.streams.video[0]
                stream = stream or clip.add_stream_from_template(found)
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
        # Only a first stretch may reach below 0: a later one must not overtake what is before it.
        if offset and placed.at < offset:
            raise RecordingFailed("a part does not begin with a keyframe")
        end = following.at if following is not None else max(until, placed.at + 1)
        # What is on the screen when the clip begins was drawn before, and must be shown then.
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
    for packet in _from(source, stream, stretch.start):
        shown = float((packet.pts or 0) * packet.time_base)
        if shown >= stretch.end:
            return
        yield _PlacedPacket(packet, offset + round((shown - stretch.start) * 1000))


def picture(video: Path, at: float) -> NDArray[np.uint8]:
    """What a video shows at a moment: B, G, R and one byte, a pixel.

    Raises:
        UnreadableFilm: If it holds no picture.
    """
    try:
        with closing(av.open(str(video))) as source:
            stream = source.streams.video[0]
            last = None
            for packet in _from(source, stream, at):
                if last is not None and float((packet.pts or 0) * packet.time_base) > at + 0.001:
                    break
                for frame in packet.decode():
                    last = frame
            if last is None:
                raise UnreadableVideo(video.name, "no picture")
            return cast("NDArray[np.uint8]", last.to_ndarray(format="bgra"))
    except (av.FFmpegError, IndexError) as error:
        raise UnreadableVideo(video.name, str(error)) from error


def _from(
    source: InputContainer, stream: VideoStream, at: float
) -> Iterator["Packet[VideoStream]"]:
    """The packets since the last keyframe not later than ``at``."""
    source.seek(round(max(0.0, at) / (stream.time_base or TIME_BASE)), stream=stream)
    for packet in source.demux(stream):
        if packet.pts is not None:
            yield packet
