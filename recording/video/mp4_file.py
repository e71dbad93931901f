"""MP4 files that play however their writer ended.

A file is written as a hybrid: every frame closes a fragment of its own, and closing the file
writes an ordinary index behind the frames. Fragments by duration would count the *video's*
seconds, of which an idle minute has only three.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import av
import numpy as np
from av.container import InputContainer, OutputContainer
from av.packet import Packet
from av.video.stream import VideoStream
from numpy.typing import NDArray

from deskhand.recording.errors import DiskFull, RecordingFailed, UnreadableVideo

from .encoder import TIME_BASE
from .mp4_boxes import HEAD, Box, boxed, padding

HYBRID = {
    "movflags": "hybrid_fragmented+frag_every_frame",
    "flush_packets": "1",
    "video_track_timescale": "1000",
}

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

SIDECAR_BOX = UUID("9e0bb7a6-2b6f-4b43-8f3e-6a1d3d0f7c51")
"""Type of the box in which a file carries its own description."""


class Mp4File:
    """One MP4 file being written. Times are milliseconds of video."""

    def __init__(self, path: Path, template: VideoStream) -> None:
        self.path = path
        self.frames = 0
        # A second descriptor of the file: its sync reaches what FFmpeg writes through its own.
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_CREAT, 0o600)
        except OSError as error:
            raise RecordingFailed(f"{path.name} cannot be written: {error}") from error
        try:
            self._container: OutputContainer | None = av.open(
                str(path), "w", format="mp4", container_options=HYBRID
            )
            self._stream = self._container.add_stream_from_template(template)
            self._stream.time_base = TIME_BASE
        except (av.FFmpegError, OSError) as error:
            os.close(self._file)
            raise RecordingFailed(f"{path.name} cannot be written: {error}") from error

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return os.fstat(self._file).st_size

    def write(self, data: bytes, *, key: bool, at: int) -> None:
        """Append a frame, shown at ``at``.

        Raises:
            DiskFull: If there is no room.
            RecordingFailed: If FFmpeg refuses it.
        """
        if self._container is None:
            raise RecordingFailed(f"{self.path.name} is closed")
        packet: Packet[Any] = Packet(data)
        packet.pts = packet.dts = at
        packet.time_base = TIME_BASE
        packet.is_keyframe = key
        packet.stream = self._stream
        try:
            self._container.mux_one(packet)
        except (av.FFmpegError, OSError) as error:
            if no_room(error):
                raise DiskFull(0, len(data)) from error
            raise RecordingFailed(f"{self.path.name} takes no frame: {error}") from error
        self.frames += 1

    def sync(self) -> None:
        """Wait until what was written is on the disk."""
        os.fdatasync(self._file)

    def close(self) -> None:
        """Write the index; twice is fine. If there is no room for it the file plays without."""
        if self._container is None:
            return
        container, self._container = self._container, None
        try:
            container.close()
        except (av.FFmpegError, OSError) as error:
            _cut_off_torn_boxes(self.path)
            raise RecordingFailed(f"{self.path.name} has no index: {error}") from error
        finally:
            os.close(self._file)


def no_room(error: BaseException) -> bool:
    """Whether an error of the system means that the disk, a quota or a limit is exhausted."""
    return getattr(error, "errno", None) in _NO_ROOM


def describe(path: Path, text: str, room: int = 0) -> None:
    """Append a description to a closed file, in a box that players skip.

    ``room``: bytes that the index may grow by later without changing the size of the file.
    """
    spare = padding(room) if room else b""
    with path.open("ab") as file:
        file.write(boxed(b"uuid", SIDECAR_BOX.bytes + text.encode()) + spare)


def description(path: Path) -> str | None:
    """What ``describe`` appended."""
    with path.open("rb") as file:
        for box in outermost(file.fileno()):
            if box.kind == b"uuid":
                contents = os.pread(file.fileno(), box.end - box.body, box.body)
                if contents.startswith(SIDECAR_BOX.bytes):
                    return contents.removeprefix(SIDECAR_BOX.bytes).decode()
    return None


@dataclass(frozen=True)
class Rescued:
    """What was left in a file whose writer was killed."""

    video_s: float
    frames: int
    last_key: NDArray[np.uint8]
    """The last picture that needs no other: B, G, R and one byte, a pixel."""


def rescue(path: Path) -> Rescued:
    """Give a killed writer's file an ordinary index; it is replaced in one step.

    Raises:
        UnreadableFilm: If there is no whole frame in it.
        OSError: If the disk refuses; the file is as it was, but for a torn end.
    """
    whole = path.with_suffix(".rescued")
    try:
        _cut_off_torn_boxes(path)
        with (
            closing(av.open(str(path))) as source,
            av.open(str(whole), "w", "mp4") as target,
        ):
            stream = source.streams.video[0]
            copy = target.add_stream_from_template(stream)
            end, frames = 0.0, 0
            for packet in _whole_packets(source, stream):
                end = max(end, float((packet.pts or 0) * packet.time_base))
                frames += 1
                packet.stream = copy
                target.mux_one(packet)
        picture = _last_key(whole)
    except (av.FFmpegError, OSError, IndexError, ValueError) as error:
        whole.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, FileNotFoundError):
            raise
        raise UnreadableVideo(path.name, str(error)) from error
    whole.replace(path)
    return Rescued(end, frames, picture)


def _cut_off_torn_boxes(path: Path) -> None:
    """Remove the end of a file that was being written; FFmpeg may refuse the rest for its sake."""
    with path.open("r+b") as file:
        size = os.fstat(file.fileno()).st_size
        end, film = size, False
        for box in outermost(file.fileno()):
            film = film or box.kind == b"moov"
            if box.kind != b"moof" and box.end <= size:
                end = box.end
        if film:
            file.truncate(end)


def _whole_packets(source: InputContainer, stream: VideoStream) -> Iterator["Packet[VideoStream]"]:
    packets = source.demux(stream)
    while True:
        # Behind the last whole frame FFmpeg may find a cut box, and says so by an error.
        try:
            packet = next(packets, None)
        except av.FFmpegError:
            return
        if packet is None:
            return
        if packet.pts is not None and not packet.is_corrupt:
            yield packet


def _last_key(path: Path) -> NDArray[np.uint8]:
    with closing(av.open(str(path))) as source:
        stream = source.streams.video[0]
        stream.codec_context.skip_frame = "NONKEY"
        pictures = iter(source.decode(stream))
        last = next(pictures, None)
        if last is None:
            raise ValueError("no picture")
        for picture in pictures:
            last = picture
        return cast("NDArray[np.uint8]", last.to_ndarray(format="bgra"))


def outermost(file: int) -> Iterator[Box]:
    """The boxes of a whole file; the last one may end behind it."""
    at, end = 0, os.fstat(file).st_size
    while at + HEAD <= end:
        head = os.pread(file, 16, at)
        size, body = int.from_bytes(head[:4], "big"), HEAD
        if size == 1:
            size, body = int.from_bytes(head[8:16], "big"), 16
        if size < body:
            return
        yield Box(head[4:8], at, at + body, at + size)
        at += size
