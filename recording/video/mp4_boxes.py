"""MP4 boxes (ISO/IEC 14496-12, section 4.2): walk, build, relocate the moov box, add chapters.

A box consists of its length (four bytes, big endian), a type of four letters and its contents,
which may be boxes again. A length of 1 means that eight bytes of length follow the type.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

HEAD = 8
"""Bytes of a box header whose length fits into four bytes."""

MOST_CHAPTERS = 255
"""Largest number of chapters: the chpl box counts them in one byte."""

LONGEST_TITLE = 255
"""Largest length of a title in bytes: the chpl box stores it in one byte too."""

_PARENTS = frozenset({b"trak", b"mdia", b"minf", b"stbl"})
"""Boxes between moov and the chunk offset boxes stco and co64 (sections 8.3 to 8.7)."""
_TRACK_FLAGS = 0x39
"""The tfhd box has an offset of the data, and defaults of duration, size and flags."""
_SYNC, _NOT_SYNC = 0x02000000, 0x01010000
"""Sample flags (section 8.8.3.1): depends on no other sample; depends on others, no sync sample."""
_MOOF_SIZE = 108
"""Size of the moof box of ``fragment``, whose fields have fixed sizes."""
_TICKS = 10_000_000
"""Ticks a second of the chpl box, which counts units of 100 ns."""


class Box(NamedTuple):
    """Position of a box in a buffer or file."""

    kind: bytes
    start: int
    """Offset of the header."""
    body: int
    """Offset of the contents."""
    end: int


class Chapter(NamedTuple):
    """Chapter mark of a video; ``start`` in seconds of video."""

    start: float
    title: str


def walk(data: bytes, start: int = 0, end: int | None = None) -> Iterator[Box]:
    """Iterate over sibling boxes; a truncated or invalid one ends the iteration."""
    end = len(data) if end is None else end
    while start + HEAD <= end:
        # A length of 0 ("to the end of the file") is invalid here: our files never contain it.
        size, body = int.from_bytes(data[start : start + 4], "big"), start + HEAD
        if size == 1:
            size, body = int.from_bytes(data[body : body + 8], "big"), body + 8
        if start + size < body or start + size > end:
            return
        yield Box(data[start + 4 : start + 8], start, body, start + size)
        start += size


def boxed(kind: bytes, contents: bytes) -> bytes:
    """Build a box from its contents."""
    return (HEAD + len(contents)).to_bytes(4, "big") + kind + contents


def fragment(access_unit: bytes, *, number: int, start: int, at: int, key: bool) -> bytes:
    """Build a fragment (moof and mdat box, section 8.8) with one frame of track 1.

    ``access_unit``: H.264 in Annex B format. ``start``: offset of the fragment in the file. ``at``:
    decode time; the frame lasts one unit of time. The boxes have the layout of FFmpeg's.
    """
    # Sections that end with a start code become sections that begin with their length.
    units = [unit.rstrip(b"\0") for unit in access_unit.split(b"\0\0\1")[1:]]
    data = b"".join(len(unit).to_bytes(4, "big") + unit for unit in units)
    defaults = (_TRACK_FLAGS, 1, start, 1, len(data), _SYNC if key else _NOT_SYNC)
    track = boxed(b"tfhd", struct.pack(">IIQIII", *defaults))
    track += boxed(b"tfdt", struct.pack(">IQ", 1 << 24, at))
    # Flag 1 of the trun box: the offset of the data, which is behind the head of the mdat box.
    track += boxed(b"trun", struct.pack(">III", 1, 1, _MOOF_SIZE + HEAD))
    sequence = boxed(b"mfhd", struct.pack(">II", 0, number))
    return boxed(b"moof", sequence + boxed(b"traf", track)) + boxed(b"mdat", data)


def padding(size: int) -> bytes:
    """Build a free box of exactly ``size`` bytes, at least ``HEAD``, which players skip."""
    return boxed(b"free", bytes(size - HEAD))


def shifted(moov: bytes, by: int) -> bytes:
    """Return the moov box for frames whose offsets in the file grow by ``by`` bytes.

    Raises:
        OverflowError: If an offset does not fit into the four bytes of an stco entry.
    """
    changed = bytearray(moov)
    for table in _tables(moov, 0, len(moov)):
        width = 8 if table.kind == b"co64" else 4
        # Version, flags and the number of entries precede the chunk offsets.
        for at in range(table.body + 8, table.end, width):
            offset = int.from_bytes(moov[at : at + width], "big") + by
            changed[at : at + width] = offset.to_bytes(width, "big")
    return bytes(changed)


def with_chapters(moov: bytes, chapters: Sequence[Chapter]) -> bytes:
    """Return the moov box with a list of chapters, thinned out if there are too many."""
    if not chapters:
        return moov
    (outer,) = walk(moov)
    listed = chapter_list(chapters)
    for box in walk(moov, outer.body, outer.end):
        # Two udta boxes are invalid, so the list joins the one that FFmpeg wrote.
        if box.kind == b"udta":
            user = boxed(b"udta", moov[box.body : box.end] + listed)
            return boxed(b"moov", moov[outer.body : box.start] + user + moov[box.end : outer.end])
    return boxed(b"moov", moov[outer.body : outer.end] + boxed(b"udta", listed))


def chapter_list(chapters: Sequence[Chapter]) -> bytes:
    """Build the chpl box (Nero chapters), which FFmpeg and most players read."""
    kept = thinned(chapters)
    rows = [bytes([1, 0, 0, 0]), bytes(4), bytes([len(kept)])]
    for chapter in kept:
        title = _cut(chapter.title)
        rows += [round(chapter.start * _TICKS).to_bytes(8, "big"), bytes([len(title)]), title]
    return boxed(b"chpl", b"".join(rows))


def thinned(chapters: Sequence[Chapter]) -> Sequence[Chapter]:
    """Return at most ``MOST_CHAPTERS`` of the chapters, spread evenly, the first included."""
    every = -(-len(chapters) // MOST_CHAPTERS)
    return chapters[:: max(1, every)]


def _cut(title: str) -> bytes:
    # A cut in the middle of a UTF-8 sequence leaves bytes that do not decode; they go, too.
    return title.encode()[:LONGEST_TITLE].decode(errors="ignore").encode()


def _tables(data: bytes, start: int, end: int) -> Iterator[Box]:
    for box in walk(data, start, end):
        if box.kind in (b"stco", b"co64"):
            yield box
        elif box.kind in _PARENTS or box.kind == b"moov":
            yield from _tables(data, box.body, box.end)
