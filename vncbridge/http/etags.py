"""``If-None-Match``, RFC 9110 section 13.1.2: the client has the bytes already."""

import re

ANY = "*"
"""In the place of entity tags: matches every representation."""

# An asterisk counts only as an item of its own, not as a part of a quoted tag.
_TAG = re.compile(r'"[^"]*"|(?<![^\s,])\*(?![^\s,])')


def listed(if_none_match: str | None) -> frozenset[str]:
    """Return the entity tags of the header, in their quotes, and ``ANY`` if it is among them.

    Weak and strong tags compare as equal here, so the ``W/`` of a weak one is left out: a proxy
    that compresses makes a tag weak.
    """
    return frozenset(_TAG.findall(if_none_match or ""))


def matches(if_none_match: str | None, etag: str) -> bool:
    """Return whether the header names this entity tag, or any."""
    return not listed(if_none_match).isdisjoint((etag, ANY))
