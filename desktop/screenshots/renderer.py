"""Renderer of screenshots: draws the pointer, scales by area and encodes.

A PNG of the whole screen is kept as compressed bands of 24 rows (see ``png``). The next picture
compresses only the bands that differ; there are three cases:

    same request   frame, size, format and pointer are equal: the last bytes are returned
    few stale      at most half of the bands: each is scaled and compressed alone
    many stale     all bands are made anew, in two halves by two threads

A band is *stale* if its rows differ from the last frame, or if the pointer was or is on it. Scaling
a band alone gives the same bits as scaling the whole screen only where no source row belongs to two
bands; for other sizes every change makes all bands anew. Regions, JPEG and WebP have no bands.

Invariant: the bytes are the same whichever case applied.
"""

import io
import struct
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import Interpolation, VideoReformatter
from numpy.typing import NDArray
from PIL import Image
from PIL import WebPImagePlugin as _WebP  # noqa: F401 - not among those of preinit

from deskhand.desktop.capture.frames import Frame, Pointer
from deskhand.desktop.capture.snapshots import maybe_changed_rows, same, wide_rows
from deskhand.desktop.geometry import Region, Size, whole

from .options import PictureFormat
from .png import Band, assemble, band, plain_rows, up_rows

_deflate: Any = zlib
with suppress(ImportError):
    from isal import isal_zlib

    _deflate = isal_zlib


# Without FULL_CHR_H_INP, swscale halves the chroma of the input in width where the picture is less
# than half as wide.
_AREA = int(Interpolation.AREA | Interpolation.FULL_CHR_H_INP)
_BAND_ROWS = 24
_MOST_ALONE = 0.5
"""Share of stale bands up to which they are made one by one; above, two threads are faster."""
_FASTEST = 1
"""Compression level: the latency of a screenshot matters more than its size."""
# Window bits of zlib; the negative value selects raw deflate without a zlib header.
_RAW_DEFLATE = -15
# Bytes of a band that are stored, not compressed; ISA-L hashes 4 bytes.
_STORED = 8
# Above this share of the raw size the content is a photograph, for which the Up filter is better.
_POORLY_COMPRESSED = 0.35


@dataclass(frozen=True)
class _Request:
    counter: int
    size: Size
    format: PictureFormat
    quality: int
    pointer: tuple[object, ...] | None


def load_codecs() -> None:
    """Load the plugins that Pillow otherwise loads at the first picture."""
    Image.preinit()


class ScreenshotRenderer:
    """Renders frames of one display and keeps the compressed bands of the last picture.

    ``render`` may be called from any thread; a lock serializes the calls.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # A scaler keeps its tables for one pair of sizes; preparing them takes longer than scaling.
        self._scaler = VideoReformatter()
        self._last: tuple[_Request, bytes] | None = None
        self._banded: _BandedPicture | None = None

    def render(
        self,
        frame: Frame,
        *,
        size: Size,
        region: Region | None = None,
        pointer: Pointer | None = None,
        format: PictureFormat = "png",
        quality: int = 85,
    ) -> bytes:
        """Encode the frame, or a ``region`` of it in native pixels, at ``size``.

        The ``pointer``, if given, is drawn on the native pixels. ``quality`` applies to the lossy
        formats.
        """
        with self._lock:
            if region is not None:
                part = crop(frame.pixels, region, pointer)
                return _encode(_scaled(part, size, self._scaler), format, quality)
            pointer_state = None if pointer is None else (pointer.position, pointer.serial)
            request = _Request(frame.counter, size, format, quality, pointer_state)
            if self._last is not None and self._last[0] == request:
                return self._last[1]
            data = self._render_whole(frame, request, pointer)
            self._last = (request, data)
            return data

    def release(self) -> None:
        """Free what is kept of the last picture; the next one is rendered as a whole."""
        with self._lock:
            self._scaler = VideoReformatter()
            self._last = None
            self._banded = None

    def _render_whole(self, frame: Frame, request: _Request, pointer: Pointer | None) -> bytes:
        native = Size(frame.pixels.shape[1], frame.pixels.shape[0])
        if request.format != "png":
            pixels = crop(frame.pixels, whole(native), pointer)
            scaled = _scaled(pixels, request.size, self._scaler)
            return _encode(scaled, request.format, request.quality)
        if self._banded is None or not self._banded.fits(native, request.size):
            self._banded = _BandedPicture(native, request.size)
        return self._banded.render(frame, pointer)


class _BandedPicture:
    """PNG of the whole screen that keeps its unchanged bands."""

    def __init__(self, native: Size, size: Size) -> None:
        self._native = native
        self._size = size
        # A band is scaled alone only where no source row belongs to two bands: the result then
        # equals that of the whole screen bit by bit.
        self._alone = (_BAND_ROWS * native.height) % size.height == 0
        self._half_scalers = VideoReformatter(), VideoReformatter()
        self._band_scaler = VideoReformatter()
        self._count = -(-size.height // _BAND_ROWS)
        self._bands: list[Band] = []
        self._frame: Frame | None = None
        self._pointer_area: Region | None = None
        self._pointer_state: tuple[object, ...] | None = None

    def fits(self, native: Size, size: Size) -> bool:
        return (native, size) == (self._native, self._size)

    def render(self, frame: Frame, pointer: Pointer | None) -> bytes:
        pixels = frame.pixels
        pointer_area = None if pointer is None else pointer_region(pointer, whole(self._native))
        pointer_state = None if pointer is None else (pointer.position, pointer.serial)
        moved = [] if pointer_state == self._pointer_state else [self._pointer_area, pointer_area]
        stale = self._stale(frame, [area for area in moved if area is not None])
        if self._alone and len(stale) <= _MOST_ALONE * len(self._bands):
            for index in stale:
                one = range(index, index + 1)
                [self._bands[index]] = self._part(pixels, one, pointer, self._band_scaler)
        elif stale:
            self._render_all(pixels, pointer)
        self._frame, self._pointer_area, self._pointer_state = frame, pointer_area, pointer_state
        return assemble(self._size, self._bands)

    def _render_all(self, pixels: NDArray[np.uint8], pointer: Pointer | None) -> None:
        middle, (upper_scaler, lower_scaler) = self._count // 2, self._half_scalers
        if self._alone and middle:
            upper = partial(self._part, pixels, range(middle), pointer, upper_scaler)
            rest = range(middle, self._count)
            lower = partial(self._part, pixels, rest, pointer, lower_scaler)
        else:
            part = crop(pixels, whole(self._native), pointer)
            scaled = _scaled(part, self._size, upper_scaler)
            upper = partial(_compressed_bands, scaled[: middle * _BAND_ROWS])
            lower = partial(_compressed_bands, scaled[middle * _BAND_ROWS :])
        # Neither scaling nor deflate holds the global interpreter lock.
        with ThreadPoolExecutor(1, "bands") as second:
            later = second.submit(lower)
            self._bands = upper() + later.result()

    def _rows(self, bands: range) -> tuple[int, int]:
        rows = _BAND_ROWS * self._native.height // self._size.height
        return bands.start * rows, min(bands.stop * rows, self._native.height)

    def _stale(self, frame: Frame, moved: list[Region]) -> list[int]:
        if self._frame is None or not self._alone:
            return list(range(self._count))
        suspected = maybe_changed_rows(self._frame, frame)
        old, new = wide_rows(self._frame.pixels), wide_rows(frame.pixels)
        stale = []
        for index in range(self._count):
            top, bottom = self._rows(range(index, index + 1))
            if any(area.top < bottom and top < area.bottom for area in moved) or (
                suspected[top:bottom].any() and not same(old[top:bottom], new[top:bottom])
            ):
                stale.append(index)
        return stale

    def _part(
        self,
        pixels: NDArray[np.uint8],
        bands: range,
        pointer: Pointer | None,
        scaler: VideoReformatter,
    ) -> list[Band]:
        top, bottom = self._rows(bands)
        height = min(bands.stop * _BAND_ROWS, self._size.height) - bands.start * _BAND_ROWS
        part = crop(pixels, Region(0, top, self._native.width, bottom), pointer)
        return _compressed_bands(_scaled(part, Size(self._size.width, height), scaler))


def pointer_region(pointer: Pointer, within: Region) -> Region:
    """Return the part of a region that the pointer covers; empty if it is elsewhere."""
    left = pointer.position.x - pointer.hot_spot.x
    top = pointer.position.y - pointer.hot_spot.y
    height, width, _ = pointer.image.shape
    return Region(left, top, left + width, top + height).intersection(within)


def crop(pixels: NDArray[np.uint8], region: Region, pointer: Pointer | None) -> NDArray[np.uint8]:
    """Return the region's pixels with the pointer on them; a copy only if it is drawn."""
    part = pixels[region.top : region.bottom, region.left : region.right]
    if pointer is None or (pointer_area := pointer_region(pointer, region)).is_empty:
        return part
    part = part.copy()
    corner_x = pointer.position.x - pointer.hot_spot.x
    corner_y = pointer.position.y - pointer.hot_spot.y
    image = pointer.image[
        pointer_area.top - corner_y : pointer_area.bottom - corner_y,
        pointer_area.left - corner_x : pointer_area.right - corner_x,
    ].astype(np.uint16)
    under = part[
        pointer_area.top - region.top : pointer_area.bottom - region.top,
        pointer_area.left - region.left : pointer_area.right - region.left,
        :3,
    ]
    # The colours of the image are premultiplied by alpha; 127 rounds the division by 255.
    background = under * (255 - image[:, :, 3:])
    under[:] = np.minimum(image[:, :, :3] + (background + 127) // 255, 255)
    return part


def _scaled(pixels: NDArray[np.uint8], size: Size, scaler: VideoReformatter) -> NDArray[np.uint8]:
    """Scale to RGB at ``size``; each pixel is the mean of the area that it covers."""
    frame = VideoFrame.from_numpy_buffer(pixels, "bgra")
    scaled = scaler.reformat(frame, size.width, size.height, "rgb24", interpolation=_AREA)
    plane = scaled.planes[0]
    rows: NDArray[np.uint8] = np.frombuffer(memoryview(plane), np.uint8)
    # FFmpeg pads each line to a multiple of its alignment.
    rows = rows.reshape(-1, plane.line_size)[: size.height, : 3 * size.width]
    return rows.reshape(size.height, size.width, 3)


def _encode(pixels: NDArray[np.uint8], format: PictureFormat, quality: int) -> bytes:
    height, width, _ = pixels.shape
    if format == "png":
        return assemble(Size(width, height), [_compressed(pixels)])
    out = io.BytesIO()
    image = Image.fromarray(pixels)
    # The slower methods of WebP take ten times as long for a fifth of the bytes.
    image.save(out, format.upper(), quality=quality, method=0)
    return out.getvalue()


def _compressed(pixels: NDArray[np.uint8]) -> Band:
    rows = plain_rows(pixels)
    data = _deflated(rows)
    if len(data) > _POORLY_COMPRESSED * rows.size:
        other_rows = up_rows(pixels)
        other = _deflated(other_rows)
        if len(other) < len(data):
            rows, data = other_rows, other
    return band(rows, data, _deflate.adler32(rows.data))


def _compressed_bands(pixels: NDArray[np.uint8]) -> list[Band]:
    parts = (pixels[top : top + _BAND_ROWS] for top in range(0, len(pixels), _BAND_ROWS))
    return [_compressed(part) for part in parts]


def _deflated(rows: NDArray[np.uint8]) -> bytes:
    """Return raw deflate data that depends on the rows only.

    ISA-L hashes the third byte of a stream without history together with a register that holds the
    address of the stream (``write_first_byte`` in igzip_icf_body_h1_gr_bt.asm), so that its matches
    differ between calls. The first bytes are therefore a stored block (RFC 1951, section 3.2.4),
    and the history of the rest.
    """
    content = rows.reshape(-1)
    first = content[:_STORED].tobytes()
    stream = _deflate.compressobj(_FASTEST, _deflate.DEFLATED, _RAW_DEFLATE, zdict=first)
    header = struct.pack("<BHH", 0, len(first), len(first) ^ 0xFFFF)
    data = stream.compress(content[_STORED:].data)
    # A full flush ends at a byte boundary and resets the window, so bands can be exchanged.
    return b"".join((header, first, data, stream.flush(_deflate.Z_FULL_FLUSH)))
