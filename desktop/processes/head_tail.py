"""Bounded buffer that keeps the beginning and the newest part of an endless output.

Retained bytes of a stream of ``total`` bytes::

    0 ...... head | ......... lost ......... | recent ...... total

A snapshot is the head and the last ``tail`` bytes, with a remark about the omitted middle. In one
for models the newest bytes go first: the end of the last line, and of a line that carriage returns
overwrote its last frame. A polling reader gets every byte once, by absolute offset, as long as it
stays within ``recent``.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

HEAD = 16_384
TAIL = 16_384
RECENT = 65_536
FORMATTED = 32_768
"""Bytes of UTF-8 of the longest snapshot, including the remark about the middle."""
LINE = 2_048
LINE_MARK = b" ... [truncated]"

_LONG_LINE = re.compile(rb"[^\n]{%d,}" % (LINE + 1))
_OVERWRITTEN = re.compile(rb"^[^\n]*\r(?=[^\r\n])", re.MULTILINE)


Shorten = Callable[[bytes], tuple[bytes, int]]
"""Shortens lines of clean UTF-8; returns the text and how many lines it cut."""


@dataclass(frozen=True)
class Truncation:
    """Sizes of the omitted and retained parts of a snapshot, in bytes."""

    original_bytes: int
    retained_bytes: int
    """Length of the text, including marks."""
    omitted_bytes: int
    cut_lines: int
    strategy: str = "head_tail"


@dataclass(frozen=True)
class Snapshot:
    """Output as text; ``truncated`` is None while the head contains all of it."""

    text: str
    truncated: Truncation | None


@dataclass(frozen=True)
class Chunk:
    """Bytes from an absolute offset."""

    data: bytes
    cursor: int
    """Offset of ``data``."""
    gap_bytes: int
    """Number of bytes after the requested offset that are lost."""
    has_more: bool

    @property
    def next_cursor(self) -> int:
        """Offset of the next read."""
        return self.cursor + len(self.data)


class HeadTailBuffer:
    """Buffer with O(1) cost per byte that drops the middle of its input."""

    def __init__(
        self, head: int = HEAD, tail: int = TAIL, recent: int = RECENT, formatted: int = FORMATTED
    ) -> None:
        self._head_size = head
        self._tail_size = tail
        self._ring_size = max(recent, tail)
        self._formatted = formatted
        self._head = bytearray()
        self._ring = bytearray()
        self.total = 0

    def write(self, data: bytes) -> int:
        """Append ``data`` and return its length."""
        room = self._head_size - len(self._head)
        if room > 0:
            self._head += data[:room]
        # The ring holds the newest bytes by their absolute offset, those of the head too.
        for chunk in self._ring_chunks(data):
            position = chunk[0] % self._ring_size
            self._ring[position : position + len(chunk[1])] = chunk[1]
        self.total += len(data)
        return len(data)

    @property
    def stored(self) -> int:
        """Number of bytes that a snapshot can contain."""
        return min(self.total, len(self._head) + self._tail_size)

    def raw(self) -> bytes:
        """Return a copy of head and tail, without marks."""
        return bytes(self._head) + self._newest(self.stored - len(self._head))

    def snapshot(self, *, newest: bool = False) -> Snapshot:
        """Return head and tail as text, cut between characters, long lines shortened.

        With ``newest``, for models, frames that carriage returns overwrote are left out, and the
        last `LINE` bytes of the last line are there.
        """
        shorten = _newest_kept if newest else _lines_cut
        kept = self.stored
        head, tail = bytes(self._head), self._newest(kept - len(self._head))
        if kept == self.total:
            shown, cut = shorten(_clean(head + tail))
            if len(shown) <= self._formatted:
                return self._described(shown, 0, cut)
            # Each invalid byte becomes U+FFFD, three bytes long, so binary output may exceed the
            # limit although all of it is retained. Its middle is omitted like any other.
            head, tail = head[: kept // 2], head[kept // 2 :] + tail
        return self._with_gap(_whole_end(head), _whole_start(tail), shorten)

    def read(self, cursor: int, limit: int = FORMATTED, *, whole: bool = False) -> Chunk:
        """Return at most ``limit`` bytes from offset ``cursor`` on, or from the next one kept.

        With ``whole``, an incomplete character at the end is left for the next read.
        """
        start = min(max(cursor, 0), self.total)
        oldest = max(self.total - self._ring_size, 0)
        # The ring has dropped these bytes, but the head still contains them. The next read reports
        # the gap behind the head.
        if start < len(self._head) and start < oldest:
            return _chunk(bytes(self._head[start:]), limit, start, 0, more=True)
        begin = max(start, oldest)
        newest = self._newest(self.total - begin)
        if whole:
            # A lone incomplete character is returned as it is: `wait_output` would otherwise wake
            # the reader at once, again and again, for bytes that no read returns.
            newest = _whole_end(newest) or newest
        return _chunk(newest, limit, begin, begin - start, more=False)

    def _ring_chunks(self, data: bytes) -> list[tuple[int, bytes]]:
        skipped = max(len(data) - self._ring_size, 0)
        position, data = self.total + skipped, data[skipped:]
        until_wrap = self._ring_size - position % self._ring_size
        if skipped and len(self._ring) < self._ring_size:
            # Chunks are assigned by position, which needs a ring of full size once bytes are
            # skipped.
            self._ring.extend(bytes(self._ring_size - len(self._ring)))
        chunks = [(position, data[:until_wrap]), (position + until_wrap, data[until_wrap:])]
        return [chunk for chunk in chunks if chunk[1]]

    def _newest(self, count: int) -> bytes:
        if count <= 0:
            return b""
        start, end = (self.total - count) % self._ring_size, self.total % self._ring_size
        if start < end:
            return bytes(self._ring[start:end])
        return bytes(self._ring[start:]) + bytes(self._ring[:end])

    def _with_gap(self, head: bytes, tail: bytes, shorten: Shorten) -> Snapshot:
        drop = 1
        while True:
            omitted = self.total - len(head) - len(tail)
            first, cut_first = shorten(_clean(head))
            last, cut_last = shorten(_clean(tail))
            shown = first + b"\n\n... [omitted %d bytes] ...\n\n" % omitted + last
            excess = len(shown) - self._formatted
            if excess <= 0 or not (head or tail):
                return self._described(shown, omitted, cut_first + cut_last)
            # Removing bytes of a line that is cut anyway shortens nothing, hence the doubling.
            drop = max(excess, drop * 2)
            if head:
                head = _whole_end(head[: max(len(head) - drop, 0)])
            else:
                tail = _whole_start(tail[drop:])

    def _described(self, shown: bytes, omitted: int, cut_lines: int) -> Snapshot:
        truncation = Truncation(self.total, len(shown), omitted, cut_lines)
        in_head = self.total <= self._head_size and not omitted
        return Snapshot(shown.decode(), None if in_head else truncation)


def _chunk(data: bytes, limit: int, cursor: int, gap: int, *, more: bool) -> Chunk:
    if len(data) <= limit:
        return Chunk(data, cursor, gap, more)
    return Chunk(_whole_end(data[:limit]) or data[:limit], cursor, gap, has_more=True)


def _clean(data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode()


def _lines_cut(data: bytes) -> tuple[bytes, int]:
    return _LONG_LINE.subn(lambda m: _whole_end(m[0][: LINE - len(LINE_MARK)]) + LINE_MARK, data)


def _newest_kept(data: bytes) -> tuple[bytes, int]:
    """Return the last frame of each line, and of the last line both ends if it is long."""
    frames = _OVERWRITTEN.sub(b"", data)
    text = frames.rstrip(b"\n")
    start = text.rfind(b"\n") + 1
    before, cut = _lines_cut(text[:start])
    last = text[start:]
    if len(last) > 2 * LINE:
        begin = _whole_end(last[: LINE - len(LINE_MARK)])
        last, cut = begin + LINE_MARK + b" " + _whole_start(last[-LINE:]), cut + 1
    return before + last + frames[len(text) :], cut


def _whole_end(data: bytes) -> bytes:
    """Drop an incomplete UTF-8 sequence at the end."""
    # A sequence has at most 4 bytes (RFC 3629, section 3), so an incomplete one at most 3.
    for back in range(1, min(len(data), 3) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        needed = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return data[:-back] if needed > back else data
    return data


def _whole_start(data: bytes) -> bytes:
    """Drop continuation bytes at the start."""
    start = 0
    while start < min(len(data), 3) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]
