"""The format of a pack: an index, and after it the bytes of pictures. Pure.

    8 bytes    ``DHPACK1`` and a line feed
    8 bytes    length of the index, big-endian
    the index  JSON: ``[{"id": ..., "size": ..., "description": ...}, ...]``
    the bytes  of these pictures, one after the other, in this order

The index is at the beginning, so that two ranges of known positions read it. The rows in the
database name a pack and the position in it; the index is read only to repair a database.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from deskhand.tools.store.errors import BadPack

SUFFIX = ".pack"
"""Ending of the ids of packs, which no id of a file has."""

MAGIC = b"DHPACK1\n"
HEADER_BYTES = 16
"""Bytes before the index."""

MOST_INDEX_BYTES = 64 << 20
"""Largest index that is read; one of 10,000 pictures has about 5 MB."""


@dataclass(frozen=True)
class PackedPicture:
    """A picture in a pack."""

    id: str
    start: int
    """Position of its first byte in the pack."""
    size: int
    description: str
    """From which its row can be restored."""


def object_name(file_id: str) -> str:
    """Return the name of the object with a file or a pack."""
    return f"{file_id[:2]}/{file_id}"


def head(pictures: Sequence[tuple[str, int, str]]) -> bytes:
    """Return what precedes the bytes of pictures, given by id, size and description."""
    index = json.dumps(
        [
            {"id": file_id, "size": size, "description": description}
            for file_id, size, description in pictures
        ]
    ).encode()
    return MAGIC + len(index).to_bytes(8, "big") + index


def index_bytes(header: bytes) -> int:
    """Return the length of the index of a pack that begins with these ``HEADER_BYTES``.

    Raises:
        BadPack: If no pack begins so.
    """
    if len(header) != HEADER_BYTES or not header.startswith(MAGIC):
        raise BadPack("it does not begin as a pack")
    length = int.from_bytes(header[len(MAGIC) :], "big")
    if length > MOST_INDEX_BYTES:
        raise BadPack(f"its index has {length} bytes")
    return length


def pictures_of(index: bytes) -> tuple[PackedPicture, ...]:
    """Return the pictures that an index lists.

    Raises:
        BadPack: If it is no index, or a part of one.
    """
    try:
        entries = json.loads(index)
        fields = [(str(e["id"]), _size(e["size"]), str(e["description"])) for e in entries]
    except (ValueError, TypeError, KeyError) as error:
        raise BadPack(f"its index cannot be read: {error}") from error
    starts = _starts(len(index), (size for _, size, _ in fields))
    return tuple(
        PackedPicture(file_id, start, size, description)
        for (file_id, size, description), start in zip(fields, starts, strict=False)
    )


def _starts(index: int, sizes: Iterable[int]) -> Iterable[int]:
    """Yield the positions of the pictures, and at last the end."""
    return accumulate(sizes, initial=HEADER_BYTES + index)


def _size(value: object) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is no size")
    return value
