"""Range requests, RFC 9110 sections 13.1.5 and 14: the bytes of a representation to send."""

import re
from collections.abc import Mapping
from typing import NamedTuple

_ONE_RANGE = re.compile(r"\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*", re.ASCII | re.IGNORECASE)
MOST_PLAYED = 4 << 20
"""Bytes of one range for a player of a page.

A browser reads ahead for a while and then leaves the response open, and it opens six connections to
one host at most. It requests what follows when it needs it.
"""

# Such numbers fit into 64 bits, and Python refuses to convert thousands of digits.
_MOST_DIGITS = 18


_PLAYERS = ("audio", "video")
"""Values of Sec-Fetch-Dest (Fetch Metadata Request Headers, section 2.1)."""


class Span(NamedTuple):
    """The bytes from ``start`` up to, and without, ``end``."""

    start: int
    end: int


class SelectedRange(NamedTuple):
    """The answer to a request: its status, the bytes of its body, and the headers about them."""

    status: int
    span: Span
    headers: dict[str, str]


class Unsatisfiable(Exception):
    """The range begins behind the end of the representation."""


def select(
    headers: Mapping[str, str], size: int, etag: str, modified: str | None = None
) -> SelectedRange:
    """Return what a request's ``Range`` and ``If-Range`` select of ``size`` bytes.

    ``modified`` is the header ``Last-Modified``, if the representation has one.

    Raises:
        Unsatisfiable: If no byte of the range exists.
    """
    valid = if_range_matches(headers.get("if-range"), etag, modified)
    span = parse_range(headers.get("range") if valid else None, size)
    if span is None:
        return SelectedRange(200, Span(0, size), {"Content-Length": str(size)})
    if headers.get("sec-fetch-dest") in _PLAYERS:
        # Section 15.3.7: a part of the requested range is an answer, too.
        span = Span(span.start, min(span.end, span.start + MOST_PLAYED))
    about = {
        "Content-Length": str(span.end - span.start),
        "Content-Range": f"bytes {span.start}-{span.end - 1}/{size}",
    }
    return SelectedRange(206, span, about)


def parse_range(header: str | None, size: int) -> Span | None:
    """Return the bytes that a ``Range`` header names; None for all of them.

    A header with several ranges, another unit or a mistake selects everything, which section 14.2
    allows a server.

    Raises:
        Unsatisfiable: If no byte of the range exists.
    """
    found = _ONE_RANGE.fullmatch(header) if header is not None else None
    if found is None or max(map(len, found.groups())) > _MOST_DIGITS:
        return None
    first, last = found.groups()
    if not first:
        return _suffix(last, size)
    start = int(first)
    # Section 14.1.1: such a range is invalid, so the header is ignored.
    if last and int(last) < start:
        return None
    if start >= size:
        raise Unsatisfiable
    return Span(start, min(int(last) + 1, size) if last else size)


def if_range_matches(if_range: str | None, etag: str, modified: str | None = None) -> bool:
    """Return whether a range may be sent to a client that holds other ranges."""
    return if_range is None or if_range.strip() in (etag, modified)


def _suffix(count: str, size: int) -> Span | None:
    if not count:
        return None
    # Section 14.1.2: a suffix range of length zero cannot be satisfied.
    if int(count) == 0 or size == 0:
        raise Unsatisfiable
    return Span(max(0, size - int(count)), size)
