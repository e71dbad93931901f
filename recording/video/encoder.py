"""H.264 encoder (libx264 through PyAV) without delay: one frame in, one access unit out.

Frames are encoded at variable times with millisecond time stamps. The encoder never decides about
keyframes: the caller forces them by time of video. It has no look-ahead and no B-frames
(``tune=zerolatency``), so an access unit is available as soon as its frame is. All quality levels
produce equal parameter sets (SPS and PPS), which allows the encoder to be replaced inside a file.
One encoder serves all recordings of a desktop: each file receives the same access units, from its
first keyframe on.
"""

from fractions import Fraction
from types import TracebackType
from typing import NamedTuple

import av
import numpy as np
from av.codec.context import Flags
from av.container import OutputContainer
from av.video.frame import PictureType, VideoFrame
from av.video.reformatter import ColorRange
from av.video.stream import VideoStream
from numpy.typing import NDArray

from deskhand.recording.errors import RecordingFailed
from deskhand.recording.ports import Overlay, Rectangle
from deskhand.recording.settings import EncoderOptions
from deskhand.recording.timing.size_budget import QualityLevel

from .color_conversion import ColorConverter

TIME_BASE = Fraction(1, 1000)

Template = VideoStream
"""Stream from which a file copies its parameter sets."""

STANDARD = EncoderOptions()
"""Options of recordings."""

BT709 = 1
"""Code point of the matrix, the primaries and the transfer of HD video (ITU-T H.273, tables 2 to
4)."""


class EncodedFrame(NamedTuple):
    """H.264 access unit and the time at which its frame was captured."""

    data: bytes
    key: bool
    at: float


class Encoder:
    """H.264 encoder, opened by ``with`` or ``open``; one encoder can serve several files."""

    def __init__(
        self,
        size: tuple[int, int],
        quality: QualityLevel,
        bits_per_second: int,
        options: EncoderOptions = STANDARD,
    ) -> None:
        self._size = size
        self._chosen = options
        self._quality = quality
        self._bits = bits_per_second
        self._container: OutputContainer | None = None
        self._stream: VideoStream | None = None
        self._padded: NDArray[np.uint8] | None = None
        self._converter = ColorConverter(blurred=quality.blurred)
        self._first_at = 0.0

    @property
    def stream(self) -> Template:
        """Stream from which a file copies its parameter sets."""
        if self._stream is None:
            raise RecordingFailed("the encoder is not open")
        return self._stream

    def open(self) -> None:
        """Start the encoder.

        Raises:
            RecordingFailed: If FFmpeg has no suitable encoder.
        """
        # Chroma subsampling 4:2:0 requires even sides.
        width, height = (side + side % 2 for side in self._size)
        try:
            # start_encoding, which needs a container, makes the parameter sets for the avcC box.
            self._container = av.open("null", "w", format="null")
            stream = self._container.add_stream("libx264", rate=15, options=self._options())
            stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
            stream.codec_context.time_base = TIME_BASE
            # MP4 stores the parameter sets in the avcC box and not in the frames.
            stream.codec_context.flags |= Flags.global_header
            # Limited range (luma 16 to 235), which players assume for H.264.
            stream.codec_context.color_range = ColorRange.MPEG
            stream.codec_context.colorspace = BT709
            stream.codec_context.color_primaries = BT709
            stream.codec_context.color_trc = BT709
            self._container.start_encoding()
        except (av.FFmpegError, ValueError) as error:
            self.close()
            raise RecordingFailed(f"the H.264 encoder did not start: {error}") from error
        self._stream = stream

    def encode(
        self,
        pixels: NDArray[np.uint8],
        at: float,
        *,
        key: bool,
        changed: tuple[Rectangle, ...] | None = None,
        overlay: Overlay | None = None,
    ) -> EncodedFrame:
        """Encode a frame captured at ``at`` (seconds), later than the previous one.

        Outside of ``changed`` the frame equals the previous one; None means that it may differ
        anywhere.
        """
        return self._encode(self._converter.draw(self._fitted(pixels), changed, overlay), at, key)

    def repeat(self, at: float, *, key: bool) -> EncodedFrame | None:
        """Encode the last frame once more (a dup frame); return None before the first."""
        picture = self._converter.picture
        return self._encode(picture, at, key) if picture is not None else None

    def close(self) -> None:
        """Release the encoder; idempotent."""
        if self._container is not None:
            self._container.close()
        self._container = self._stream = None

    def __enter__(self) -> "Encoder":
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _options(self) -> dict[str, str]:
        """Return the options of libx264.

        * ``threads``: more threads divide a frame into slices, which costs a fifth more bytes; the
          latency that they save is not needed for a file.
        * ``forced-idr``: a file may begin with a forced keyframe, which must be an IDR picture.
        * ``keyint`` counts frames, of which there may be two a minute; keyframes are forced by time
          instead.
        * ``stitchable`` makes the parameter sets independent of the quality.
        * ``subme``, ``me``, ``weightp``: content of a screen moves by whole pixels and does not
          fade. Subpixel motion search and weighted prediction cost a sixth of the time and 16 MB,
          and find nothing.
        * ``superfast``, ``8x8dct``, ``no-deblock``: one reference frame, small transforms and no
          deblocking take a tenth to a quarter less time than ``veryfast``, for equal similarity
          and bytes on pages, text that scrolls and photographs. Only a photograph that moves at
          crf 33 loses 0.003 of its similarity.

        Tried without success, on the same frames: CAVLC (a fifth less time, but a tenth more bytes
        and, where the bit rate is limited, less similarity), ``ultrafast`` (half more bytes),
        ``aq-mode=0`` with a higher crf (a tenth more bytes for the same time), and ``merange``,
        ``no-chroma-me``, ``no-psy`` and ``mbtree=0`` (no difference).
        """
        return {
            "preset": self._chosen.preset,
            "tune": "zerolatency",
            "crf": str(self._quality.crf),
            "threads": "1",
            "maxrate": str(self._bits),
            "bufsize": str(self._bits),
            "forced-idr": "1",
            "x264-params": f"keyint=infinite:scenecut=0:stitchable=1:{self._chosen.params}",
        }

    def _encode(self, picture: VideoFrame, at: float, key: bool) -> EncodedFrame:
        self._first_at = self._first_at or at
        # For the rate control of libx264 only; files get their stamps from the scheduler.
        picture.pts = round((at - self._first_at) * 1000)
        picture.time_base = TIME_BASE
        picture.pict_type = PictureType.I if key else PictureType.NONE
        try:
            # zerolatency: exactly one packet for each frame.
            (packet,) = self.stream.encode(picture)
        except (av.FFmpegError, ValueError) as error:
            raise RecordingFailed(f"the encoder refused a picture: {error}") from error
        return EncodedFrame(bytes(packet), packet.is_keyframe, at)

    def _fitted(self, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the pixels at the coded size, with odd sides padded by repeating the border."""
        width, height = self.stream.width, self.stream.height
        if pixels.shape[:2] == (height, width) and pixels.flags.c_contiguous:
            return pixels
        if self._padded is None:
            self._padded = np.zeros((height, width, 4), np.uint8)
        rows, columns = min(height, pixels.shape[0]), min(width, pixels.shape[1])
        self._padded[:rows, :columns] = pixels[:rows, :columns]
        self._padded[rows:, :columns] = self._padded[rows - 1, :columns]
        self._padded[:, columns:] = self._padded[:, columns - 1 : columns]
        return self._padded


def parameter_sets(stream: Template) -> bytes:
    """Return the parameter sets (avcC extradata); streams with equal ones may share a file."""
    return stream.codec_context.extradata or b""
