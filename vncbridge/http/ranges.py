"""Which bytes of a file a request wants, RFC 9110 sections 13 and 14."""

import re
from typing import NamedTuple

_ONE = re.compile(r"\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*", re.ASCII | re.IGNORECASE)
_MOST_DIGITS = 18


class Span(NamedTuple):
    """From ``start`` up to, and without, ``end``."""

    start: int
    end: int


class Unsatisfiable(Exception):
    """The wanted bytes lie behind the end."""


def wanted(header: str | None, size: int) -> Span | None:
    """The part that a ``Range`` header names; None for the whole file.

    Whoever asks for several parts at once, or in other words, gets the whole, as the RFC allows.

    Raises:
        Unsatisfiable: If nothing of the part exists.
    """
    found = _ONE.fullmatch(header) if header is not None else None
    if found is None or max(map(len, found.groups())) > _MOST_DIGITS:
        return None
    first, last = found.groups()
    if not first:
        return _last_bytes(last, size)
    start = int(first)
    if last and int(last) < start:
        return None
    if start >= size:
        raise Unsatisfiable
    return Span(start, min(int(last) + 1, size) if last else size)


def has_already(if_none_match: str | None, etag: str) -> bool:
    """Whether the caller holds the file of this entity tag."""
    return if_none_match is not None and any(
        tag.strip().removeprefix("W/") in ("*", etag) for tag in if_none_match.split(",")
    )


def still_valid(if_range: str | None, etag: str, modified: str) -> bool:
    """Whether a part may be sent to a caller who holds other parts of the file."""
    return if_range is None or if_range.strip() in (etag, modified)


def _last_bytes(count: str, size: int) -> Span | None:
    if not count:
        return None
    if int(count) == 0 or size == 0:
        raise Unsatisfiable
    return Span(max(0, size - int(count)), size)
