"""Extracts a range of numbered lines from a stream of bytes, in bounded memory."""

from dataclasses import dataclass

CUT_MARK = "... [truncated]"
BINARY_PROBE = 8_192
"""Bytes in which a NUL marks a file as binary, the heuristic of git (buffer_is_binary)."""


@dataclass(frozen=True)
class Bounds:
    """Limits of an answer."""

    line_bytes: int = 1_024
    lines: int = 2_000
    content_bytes: int = 32_768
    """Size of the formatted text, including numbers, tabs and newlines."""


@dataclass(frozen=True)
class Excerpt:
    """Some lines of a text."""

    content: str
    """Lines as number, tab and text, joined by newlines."""
    lines: int
    total_lines: int
    next_line: int | None
    """First line of the range that did not fit; None if all did."""
    full: str | None
    """Limit that ended the excerpt early: ``lines`` or ``bytes``."""


class LineReader:
    """Reads a text in chunks and keeps at most ``count`` lines from line ``first`` on.

    ``bounds`` limits the memory, regardless of the input. A final newline ends the last line and
    begins no further one.
    """

    def __init__(self, first: int, count: int, bounds: Bounds) -> None:
        self._first = first
        self._beyond = first + count
        self._bounds = bounds
        self._number = 1
        self._pending = False
        self._line = bytearray()
        self._lines: list[str] = []
        self._content_bytes = 0
        self._full: str | None = None
        self._next: int | None = None

    def feed(self, data: bytes) -> None:
        """Process the next chunk."""
        position = 0
        while position < len(data):
            if not self._wanted():
                position = self._skip(data, position)
                continue
            end = data.find(b"\n", position)
            part = data[position : end if end >= 0 else len(data)]
            # One byte over the limit shows that the line is too long. Three more show if the
            # character at the limit is complete.
            self._line += part[: max(self._bounds.line_bytes + 4 - len(self._line), 0)]
            self._pending = True
            position += len(part)
            if end >= 0:
                position += 1
                self._end_line()

    def finish(self) -> Excerpt:
        """Return the excerpt."""
        if self._pending and self._wanted():
            self._end_line()
        elif self._pending:
            self._number += 1
            self._pending = False
        return Excerpt(
            "\n".join(self._lines), len(self._lines), self._number - 1, self._next, self._full
        )

    def _wanted(self) -> bool:
        return self._full is None and self._first <= self._number < self._beyond

    def _skip(self, data: bytes, position: int) -> int:
        """Skip lines outside of the range; return the position after them."""
        newlines = data.count(b"\n", position)
        ahead = self._first - self._number
        if ahead <= 0 or newlines < ahead:
            self._number += newlines
            self._pending = not data.endswith(b"\n")
            return len(data)
        for _ in range(ahead):
            position = data.index(b"\n", position) + 1
        self._number = self._first
        self._pending = False
        return position

    def _end_line(self) -> None:
        text = f"{self._number}\t{_shortened(bytes(self._line), self._bounds.line_bytes)}"
        # Measured in the encoded answer, where the replacement for one invalid byte takes three.
        size = len(text.encode()) + (1 if self._lines else 0)
        if len(self._lines) >= self._bounds.lines:
            self._full = "lines"
        elif self._content_bytes + size > self._bounds.content_bytes and self._lines:
            # One line is always included, even over the limit, so that paging makes progress.
            self._full = "bytes"
        if self._full:
            self._next = self._number
        else:
            self._lines.append(text)
            self._content_bytes += size
        self._line.clear()
        self._pending = False
        self._number += 1


def is_binary(start: bytes) -> bool:
    """Return True if the first bytes of a file are not text."""
    return b"\0" in start[:BINARY_PROBE]


def _shortened(line: bytes, most: int) -> str:
    if len(line) <= most:
        return line.decode("utf-8", "replace")
    cut = most
    # Back to the first byte of a character (continuation bytes are 10xxxxxx, RFC 3629). At most
    # three steps, as no character has more than four bytes; other input is not UTF-8.
    while cut > 0 and most - cut < 3 and line[cut] & 0xC0 == 0x80:
        cut -= 1
    return line[:cut].decode("utf-8", "replace") + CUT_MARK
