"""Keep the beginning and the newest part of an endless output in bounded memory.

What is kept of a stream of ``total`` bytes::

    0 ...... head | ......... lost ......... | recent ...... total

A model is shown head and the last ``tail`` bytes with a remark about the middle; a reader that
polls gets everything once, by absolute offset, as long as it comes within ``recent``.
"""

import re
from dataclasses import dataclass

HEAD = 16_384
TAIL = 16_384
RECENT = 65_536
FORMATTED = 32_768
"""Longest text, in bytes of UTF-8, the remark about the middle included."""
LINE = 2_048
LINE_MARK = b" ... [truncated]"

_LONG_LINE = re.compile(rb"[^\n]{%d,}" % (LINE + 1))


@dataclass(frozen=True)
class Truncation:
    """What a snapshot leaves out. All sizes are bytes."""

    original_bytes: int
    retained_bytes: int
    """Length of the text as shown, marks included."""
    omitted_bytes: int
    cut_lines: int
    strategy: str = "head_tail"


@dataclass(frozen=True)
class Snapshot:
    """Output as a model reads it; ``truncated`` is None while all of it is in the head."""

    text: str
    truncated: Truncation | None


@dataclass(frozen=True)
class Chunk:
    """Bytes from an absolute offset."""

    data: bytes
    cursor: int
    """Where ``data`` begins."""
    gap_bytes: int
    """How many bytes after the asked offset are lost for good."""
    has_more: bool

    @property
    def next_cursor(self) -> int:
        """Where to go on reading."""
        return self.cursor + len(self.data)


class HeadTailBuffer:
    """Takes any amount of output at O(1) a byte and forgets the middle."""

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
        """Take ``data`` in and return its length."""
        room = self._head_size - len(self._head)
        if room > 0:
            self._head += data[:room]
        # The ring holds the newest bytes by their absolute offset, those of the head too.
        for piece in self._ring_pieces(data):
            at = piece[0] % self._ring_size
            self._ring[at : at + len(piece[1])] = piece[1]
        self.total += len(data)
        return len(data)

    @property
    def stored(self) -> int:
        """How many of the bytes a snapshot can show."""
        return min(self.total, len(self._head) + self._tail_size)

    def raw(self) -> bytes:
        """Return a copy of head and tail, without marks."""
        return bytes(self._head) + self._newest(self.stored - len(self._head))

    def snapshot(self) -> Snapshot:
        """Return head and tail as text, cut between characters, long lines shortened."""
        kept = self.stored
        head, tail = bytes(self._head), self._newest(kept - len(self._head))
        if kept == self.total:
            shown, cut = _lines_cut(_clean(head + tail))
            if len(shown) <= self._formatted:
                return self._described(shown, 0, cut)
            # Noise is longer when shown; what is left out of it is the middle too.
            head, tail = head[: kept // 2], head[kept // 2 :] + tail
        return self._with_gap(_whole_end(head), _whole_start(tail))

    def read(self, cursor: int, limit: int = FORMATTED, *, whole: bool = False) -> Chunk:
        """Return at most ``limit`` bytes from offset ``cursor`` on, or from the next one kept.

        ``whole``: a character of which bytes are still to come is left for the next read.
        """
        start = min(max(cursor, 0), self.total)
        oldest = max(self.total - self._ring_size, 0)
        if start < len(self._head) and start < oldest:
            return _chunk(bytes(self._head[start:]), limit, start, 0, more=True)
        begin = max(start, oldest)
        newest = self._newest(self.total - begin)
        if whole:
            newest = _whole_end(newest) or newest
        return _chunk(newest, limit, begin, begin - start, more=False)

    def _ring_pieces(self, data: bytes) -> list[tuple[int, bytes]]:
        skipped = max(len(data) - self._ring_size, 0)
        at, data = self.total + skipped, data[skipped:]
        until_wrap = self._ring_size - at % self._ring_size
        if skipped and len(self._ring) < self._ring_size:
            self._ring.extend(bytes(self._ring_size - len(self._ring)))
        pieces = [(at, data[:until_wrap]), (at + until_wrap, data[until_wrap:])]
        return [piece for piece in pieces if piece[1]]

    def _newest(self, count: int) -> bytes:
        if count <= 0:
            return b""
        start, end = (self.total - count) % self._ring_size, self.total % self._ring_size
        if start < end:
            return bytes(self._ring[start:end])
        return bytes(self._ring[start:]) + bytes(self._ring[:end])

    def _with_gap(self, head: bytes, tail: bytes) -> Snapshot:
        drop = 1
        while True:
            omitted = self.total - len(head) - len(tail)
            first, cut_first = _lines_cut(_clean(head))
            last, cut_last = _lines_cut(_clean(tail))
            shown = first + b"\n\n... [omitted %d bytes] ...\n\n" % omitted + last
            excess = len(shown) - self._formatted
            if excess <= 0 or not (head or tail):
                return self._described(shown, omitted, cut_first + cut_last)
            # Doubling: shortening a line that is cut anyway frees nothing at first.
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


def _whole_end(data: bytes) -> bytes:
    """Drop a character at the end of which bytes are missing."""
    for back in range(1, min(len(data), 3) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        needed = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return data[:-back] if needed > back else data
    return data


def _whole_start(data: bytes) -> bytes:
    """Drop the rest of a character that began before."""
    start = 0
    while start < min(len(data), 3) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]
