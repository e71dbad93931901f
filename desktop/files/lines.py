"""Pick a range of numbered lines out of a stream of bytes of any length."""

from dataclasses import dataclass

CUT_MARK = "... [truncated]"
BINARY_PROBE = 8_192
"""A NUL among so many first bytes: no text. The rule of git and grep."""


@dataclass(frozen=True)
class Bounds:
    """The most that an answer holds."""

    line_bytes: int = 1_024
    lines: int = 2_000
    content_bytes: int = 32_768
    """Of the formatted text: numbers, tabs and newlines count."""


@dataclass(frozen=True)
class Excerpt:
    """Some lines of a text."""

    content: str
    """Each line as its number, a tab and its text; joined by newlines."""
    lines: int
    total_lines: int
    next_line: int | None
    """First line of the range that did not fit, None if all did."""
    full: str | None
    """Which bound ended it early: ``lines`` or ``bytes``."""


class LineReader:
    """Takes a text in pieces and keeps the lines from ``first`` on, ``count`` at most.

    Memory is bounded by ``bounds``, whatever passes through. A final newline ends the last line;
    it begins no further one.
    """

    def __init__(self, first: int, count: int, bounds: Bounds) -> None:
        self._first = first
        self._beyond = first + count
        self._bounds = bounds
        self._number = 1
        self._pending = False
        self._line = bytearray()
        self._shown: list[str] = []
        self._shown_bytes = 0
        self._full: str | None = None
        self._next: int | None = None

    def feed(self, data: bytes) -> None:
        """Take the next piece in."""
        at = 0
        while at < len(data):
            if not self._wanted():
                at = self._skip(data, at)
                continue
            end = data.find(b"\n", at)
            piece = data[at : end if end >= 0 else len(data)]
            # A byte more than fits tells that the line is too long; three more that a
            # character at the border is whole.
            self._line += piece[: max(self._bounds.line_bytes + 4 - len(self._line), 0)]
            self._pending = True
            at += len(piece)
            if end >= 0:
                at += 1
                self._end_line()

    def finish(self) -> Excerpt:
        """Return what was picked."""
        if self._pending and self._wanted():
            self._end_line()
        elif self._pending:
            self._number += 1
            self._pending = False
        return Excerpt(
            "\n".join(self._shown), len(self._shown), self._number - 1, self._next, self._full
        )

    def _wanted(self) -> bool:
        return self._full is None and self._first <= self._number < self._beyond

    def _skip(self, data: bytes, at: int) -> int:
        """Pass over lines nobody asked for; return where to go on."""
        newlines = data.count(b"\n", at)
        ahead = self._first - self._number
        if ahead <= 0 or newlines < ahead:
            self._number += newlines
            self._pending = not data.endswith(b"\n")
            return len(data)
        for _ in range(ahead):
            at = data.index(b"\n", at) + 1
        self._number = self._first
        self._pending = False
        return at

    def _end_line(self) -> None:
        text = f"{self._number}\t{_shortened(bytes(self._line), self._bounds.line_bytes)}"
        size = len(text.encode()) + (1 if self._shown else 0)
        if len(self._shown) >= self._bounds.lines:
            self._full = "lines"
        elif self._shown_bytes + size > self._bounds.content_bytes and self._shown:
            # At least one is given, however small the bound: else paging would never end.
            self._full = "bytes"
        if self._full:
            self._next = self._number
        else:
            self._shown.append(text)
            self._shown_bytes += size
        self._line.clear()
        self._pending = False
        self._number += 1


def is_binary(start: bytes) -> bool:
    """Tell from its first bytes that a file is no text."""
    return b"\0" in start[:BINARY_PROBE]


def _shortened(line: bytes, most: int) -> str:
    if len(line) <= most:
        return line.decode("utf-8", "replace")
    cut = most
    while cut > 0 and most - cut < 3 and line[cut] & 0xC0 == 0x80:
        cut -= 1
    return line[:cut].decode("utf-8", "replace") + CUT_MARK
