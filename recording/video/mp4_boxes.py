"""MP4 as nested boxes: finding them, moving an index, adding chapters (ISO 14496-12).

A box is its length, four letters and its contents; contents may be boxes again.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

HEAD = 8
"""Bytes of a box before its contents, when its length fits into four bytes."""

MOST_CHAPTERS = 255
"""The list of chapters counts them in one byte."""

LONGEST_TITLE = 255
"""Bytes; a title's length is one byte too."""

_PARENTS = frozenset({b"trak", b"mdia", b"minf", b"stbl"})
_TICKS = 10_000_000


class Box(NamedTuple):
    """A box inside of some bytes."""

    kind: bytes
    start: int
    """Of the box itself."""
    body: int
    """Of its contents."""
    end: int


class Chapter(NamedTuple):
    """A named moment; seconds of video."""

    start: float
    title: str


def walk(data: bytes, start: int = 0, end: int | None = None) -> Iterator[Box]:
    """The boxes that follow each other; those that are cut off or nonsense end the walk."""
    end = len(data) if end is None else end
    while start + HEAD <= end:
        size, body = int.from_bytes(data[start : start + 4], "big"), start + HEAD
        if size == 1:
            size, body = int.from_bytes(data[body : body + 8], "big"), body + 8
        if start + size < body or start + size > end:
            return
        yield Box(data[start + 4 : start + 8], start, body, start + size)
        start += size


def boxed(kind: bytes, contents: bytes) -> bytes:
    """A box of these contents."""
    return (HEAD + len(contents)).to_bytes(4, "big") + kind + contents


def padding(size: int) -> bytes:
    """A box of exactly ``size`` bytes, at least ``HEAD``, that everybody skips."""
    return boxed(b"free", bytes(size - HEAD))


def shifted(moov: bytes, by: int) -> bytes:
    """The same index for frames that lie ``by`` bytes further back in the file.

    Raises:
        OverflowError: If a place does not fit into the four bytes it has.
    """
    changed = bytearray(moov)
    for table in _tables(moov, 0, len(moov)):
        width = 8 if table.kind == b"co64" else 4
        for at in range(table.body + 8, table.end, width):
            place = int.from_bytes(moov[at : at + width], "big") + by
            changed[at : at + width] = place.to_bytes(width, "big")
    return bytes(changed)


def with_chapters(moov: bytes, chapters: Sequence[Chapter]) -> bytes:
    """The same index with a list of chapters; of too many every second one goes, and again."""
    if not chapters:
        return moov
    (outer,) = walk(moov)
    listed = chapter_list(chapters)
    for box in walk(moov, outer.body, outer.end):
        if box.kind == b"udta":
            user = boxed(b"udta", moov[box.body : box.end] + listed)
            return boxed(b"moov", moov[outer.body : box.start] + user + moov[box.end : outer.end])
    return boxed(b"moov", moov[outer.body : outer.end] + boxed(b"udta", listed))


def chapter_list(chapters: Sequence[Chapter]) -> bytes:
    """The box ``chpl``, which FFmpeg and most players read."""
    kept = thinned(chapters)
    rows = [bytes([1, 0, 0, 0]), bytes(4), bytes([len(kept)])]
    for chapter in kept:
        title = _cut(chapter.title)
        rows += [round(chapter.start * _TICKS).to_bytes(8, "big"), bytes([len(title)]), title]
    return boxed(b"chpl", b"".join(rows))


def thinned(chapters: Sequence[Chapter]) -> Sequence[Chapter]:
    """As many of the chapters as a file may have, spread evenly."""
    every = -(-len(chapters) // MOST_CHAPTERS)
    return chapters[:: max(1, every)]


def _cut(title: str) -> bytes:
    return title.encode()[:LONGEST_TITLE].decode(errors="ignore").encode()


def _tables(data: bytes, start: int, end: int) -> Iterator[Box]:
    for box in walk(data, start, end):
        if box.kind in (b"stco", b"co64"):
            yield box
        elif box.kind in _PARENTS or box.kind == b"moov":
            yield from _tables(data, box.body, box.end)
