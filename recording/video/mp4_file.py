"""MP4 files that play even if their writer was killed.

``Mp4File`` writes a hybrid file (FFmpeg's ``hybrid_fragmented``): every frame is a fragment (moof
and mdat box) of its own, and ``close`` writes an ordinary moov box behind the frames. A file
without it still plays, fragment by fragment. Fragments of a fixed duration would be counted in
seconds of *video*, of which an idle minute has only two, so the loss at a kill would be large.

FFmpeg writes a fragment when the next frame arrives, because only then is its duration known. On a
busy machine that takes seconds, so ``Mp4File`` writes the newest frame behind FFmpeg's fragments by
itself. FFmpeg then overwrites this *provisional* fragment with its own, at the same offset.

States of a file: open (fragments only), closed (moov box at the end; ``describe`` may append the
description), and with the index in front (see ``library.faststart``). ``rescue`` turns an open
file whose writer is gone into a closed one.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import islice
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
from deskhand.recording.timing.thumbnail_choice import ThumbnailChoice, detail_score, is_bare

from .encoder import TIME_BASE
from .mp4_boxes import HEAD, Box, boxed, fragment, padding

HYBRID = {
    "movflags": "hybrid_fragmented+frag_every_frame+empty_moov",
    "flush_packets": "1",
    "video_track_timescale": "1000",
}
"""Options of FFmpeg's mov muxer. Without flush_packets up to 32 KiB would wait in its buffer.

With empty_moov the first frame is a fragment too: Firefox plays no fragments behind a moov box that
has samples (ISO/IEC 14496-12, section 8.8).
"""

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""EFBIG: the limit of a file's size (setrlimit RLIMIT_FSIZE) or of the file system."""

SIDECAR_BOX = UUID("9e0bb7a6-2b6f-4b43-8f3e-6a1d3d0f7c51")
"""Extended type (section 11.1) of the uuid box that contains the description of a file."""


class Mp4File:
    """MP4 file that is being written. Times are milliseconds of video."""

    def __init__(self, path: Path, template: VideoStream) -> None:
        self.path = path
        self.frames = 0
        self._fragments_end = 0
        # PyAV does not expose its descriptor. fdatasync on a second descriptor also covers what
        # FFmpeg wrote through its own, because dirty pages belong to the inode.
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
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
        """Size on disk in bytes."""
        return os.fstat(self._file).st_size

    def write(self, data: bytes, *, key: bool, at: int) -> None:
        """Append a frame that is shown from ``at`` on.

        Raises:
            DiskFull: If there is no free space.
            RecordingFailed: If FFmpeg rejects the frame.
        """
        if self._container is None:
            raise RecordingFailed(f"{self.path.name} is closed")
        packet: Packet[Any] = Packet(data)
        # The encoder makes no B-frames, so frames are decoded in the order of presentation.
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
        # FFmpeg writes the fragment of the first frame with the second one.
        if self.frames > 1:
            self._write_provisional(data, key=key, at=at)

    def _write_provisional(self, data: bytes, *, key: bool, at: int) -> None:
        """Write the frame that FFmpeg keeps until the next one behind the other frames."""
        size = self.size
        if self._fragments_end == 0:
            self._fragments_end = size
        else:
            # FFmpeg has just written a moof and an mdat box over the last provisional fragment.
            moof_and_mdat = list(islice(outermost(self._file, self._fragments_end), 2))
            self._fragments_end = moof_and_mdat[-1].end
        end = self._fragments_end
        last = fragment(data, number=self.frames - 1, start=end, at=at, key=key)
        # Without room for it, the next frame of FFmpeg reports the full disk.
        with suppress(OSError):
            os.pwrite(self._file, last, end)
            if end + len(last) < size:
                os.ftruncate(self._file, end + len(last))

    def sync(self) -> None:
        """Force all written frames to the disk (``fdatasync``)."""
        os.fdatasync(self._file)

    def close(self) -> None:
        """Write the moov box and close the file; idempotent.

        Raises:
            RecordingFailed: If there is no room for the moov box; the file plays without it.
        """
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
    """Return True if an error means that the disk, a quota or a size limit is exhausted."""
    return getattr(error, "errno", None) in _NO_ROOM


def describe(path: Path, text: str, room: int = 0) -> None:
    """Append a description to a closed file, in a uuid box that players skip.

    ``room``: bytes by which the moov box may grow later without a change of the file's size.
    """
    # The spare room lets the moov box grow by the chapters later.
    spare = padding(room) if room else b""
    with path.open("ab") as file:
        file.write(boxed(b"uuid", SIDECAR_BOX.bytes + text.encode()) + spare)


def description(path: Path) -> str | None:
    """Return the description that ``describe`` appended; None if there is none."""
    with path.open("rb") as file:
        for box in outermost(file.fileno()):
            if box.kind == b"uuid":
                contents = os.pread(file.fileno(), box.end - box.body, box.body)
                if contents.startswith(SIDECAR_BOX.bytes):
                    return contents.removeprefix(SIDECAR_BOX.bytes).decode()
    return None


@dataclass(frozen=True)
class Rescued:
    """Content of a file whose writer was killed."""

    video_s: float
    frames: int
    best_key: NDArray[np.uint8]
    """The keyframe for the thumbnail, decoded: B, G, R and one byte, a pixel."""


def rescue(path: Path) -> Rescued:
    """Write an ordinary moov box for the file of a killed writer; replace the file atomically.

    Raises:
        UnreadableVideo: If the file contains no complete frame.
        OSError: If the disk fails; the file is unchanged except for a truncated last box.
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
        picture = _best_key(whole)
    except (av.FFmpegError, OSError, IndexError, ValueError) as error:
        whole.unlink(missing_ok=True)
        # PyAV's errors are OSErrors as well where FFmpeg returned an errno, so that a full disk is
        # distinct from a broken file.
        if isinstance(error, OSError) and not isinstance(error, FileNotFoundError):
            raise
        raise UnreadableVideo(path.name, str(error)) from error
    # The rename is atomic: a kill during the rescue leaves a file that can be rescued again.
    whole.replace(path)
    return Rescued(end, frames, picture)


def _cut_off_torn_boxes(path: Path) -> None:
    """Truncate a file after its last complete fragment; FFmpeg may reject all of it otherwise."""
    with path.open("r+b") as file:
        size = os.fstat(file.fileno()).st_size
        end, has_moov = size, False
        for box in outermost(file.fileno()):
            has_moov = has_moov or box.kind == b"moov"
            # A moof box is useless without the mdat box that follows it.
            if box.kind != b"moof" and box.end <= size:
                end = box.end
        if has_moov:
            file.truncate(end)


def _whole_packets(source: InputContainer, stream: VideoStream) -> Iterator["Packet[VideoStream]"]:
    packets = source.demux(stream)
    while True:
        # FFmpeg reports a truncated box after the last complete fragment as an error.
        try:
            packet = next(packets, None)
        except av.FFmpegError:
            return
        if packet is None:
            return
        if packet.pts is not None and not packet.is_corrupt:
            yield packet


def _best_key(path: Path) -> NDArray[np.uint8]:
    """Return the keyframe that wins as the thumbnail, else the last one."""
    choice = ThumbnailChoice()
    best: NDArray[np.uint8] | None = None
    with closing(av.open(str(path))) as source:
        stream = source.streams.video[0]
        # Decoding only the keyframes is fast even for a long file.
        stream.codec_context.skip_frame = "NONKEY"
        last: av.VideoFrame | None = None
        for last in source.decode(stream):
            now = last.time or 0.0
            if choice.due(now):
                pixels = cast("NDArray[np.uint8]", last.to_ndarray(format="bgra"))
                if not is_bare(pixels) and choice.wins(detail_score(pixels), now):
                    best = pixels
        if last is None:
            raise ValueError("no picture")
        if best is None:
            best = cast("NDArray[np.uint8]", last.to_ndarray(format="bgra"))
    return best


def outermost(file: int, start: int = 0) -> Iterator[Box]:
    """Iterate over the top-level boxes of a file; the last one may be truncated."""
    at, end = start, os.fstat(file).st_size
    while at + HEAD <= end:
        head = os.pread(file, 16, at)
        size, body = int.from_bytes(head[:4], "big"), HEAD
        if size == 1:
            size, body = int.from_bytes(head[8:16], "big"), 16
        if size < body:
            return
        yield Box(head[4:8], at, at + body, at + size)
        at += size
