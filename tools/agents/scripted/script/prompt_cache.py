"""Tokens of a request by the accounting of a provider's prompt cache. Pure.

A protocol divides a request into blocks, in the order in which its provider reads them. A prefix of
these blocks is an entry of the cache if an earlier request wrote it.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

CHARACTERS_PER_TOKEN = 4
PIXELS_PER_TOKEN = 750
"""Rules of thumb of the provider: a picture of 1280x720 has 1,229 tokens."""
MOST_ENTRIES = 10_000
"""Entries that a server keeps: a bound on the memory of a long run."""
LOOK_BACK = 20
"""Blocks from a mark, itself included, among which the newest entry is searched."""
LEAST_TOKENS = 1024
"""Tokens of the shortest prefix that becomes an entry."""


@dataclass(frozen=True)
class InputTokens:
    """Tokens of a request; each is counted once."""

    plain: int
    """Neither read from the cache nor written to it."""
    read: int = 0
    written: int = 0

    @property
    def total(self) -> int:
        """All tokens of the request."""
        return self.plain + self.read + self.written


@dataclass(frozen=True)
class PrefixEnd:
    """The end of a block."""

    digest: bytes
    """Of the model and of everything up to here."""
    tokens: int
    """Of everything up to here."""
    marked: bool = False


class CacheEntries:
    """The prefixes that requests have written, the oldest of which are forgotten."""

    def __init__(self, most: int = MOST_ENTRIES) -> None:
        """Begin with an empty cache for ``most`` entries."""
        self._entries: set[bytes] = set()
        self._order: deque[bytes] = deque()
        self._most = most

    def __contains__(self, digest: bytes) -> bool:
        return digest in self._entries

    def add(self, digest: bytes) -> None:
        """Add an entry; one that exists stays where it is."""
        if digest in self._entries:
            return
        self._entries.add(digest)
        self._order.append(digest)
        if len(self._order) > self._most:
            self._entries.discard(self._order.popleft())


def accounted(ends: Sequence[PrefixEnd], entries: CacheEntries) -> InputTokens:
    """Return the tokens of a request, and write the prefixes that it marks."""
    total = ends[-1].tokens if ends else 0
    read = last = 0
    marks = [index for index, end in enumerate(ends) if end.marked]
    for mark in marks:
        last = ends[mark].tokens
        # All marks are read before any is written: a request does not find its own entries.
        near = reversed(ends[max(0, mark - LOOK_BACK + 1) : mark + 1])
        read = max(read, next((end.tokens for end in near if end.digest in entries), 0))
    for mark in marks:
        if ends[mark].tokens >= LEAST_TOKENS:
            entries.add(ends[mark].digest)
    written = max(0, last - read) if last >= LEAST_TOKENS else 0
    return InputTokens(total - read - written, read, written)


def text_tokens(value: Any, skip: frozenset[str] = frozenset({"data"})) -> int:
    """Return the tokens of all texts in a value, without the values of the keys in ``skip``."""
    return -(-_characters(value, skip) // CHARACTERS_PER_TOKEN)


def picture_tokens(width: int, height: int) -> int:
    """Return the tokens of a picture."""
    return -(-width * height // PIXELS_PER_TOKEN)


def _characters(value: Any, skip: frozenset[str]) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(_characters(item, skip) for key, item in value.items() if key not in skip)
    if isinstance(value, list | tuple):
        return sum(_characters(item, skip) for item in value)
    return 0
