"""Table of recent tool calls: each begins once, however often its request arrives.

A caller whose response was lost cannot know whether the call ran. With an id the caller repeats
the request. An entry is kept for an hour after the last request for it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from .errors import CallRefused

KEPT_SECONDS = 3600.0
KEPT_COUNT = 1000

T = TypeVar("T")
Key = tuple[str, str]
"""Chat and tool-call id: the same id in another chat is another call."""


class _Dated(Protocol):
    @property
    def at(self) -> float: ...


D = TypeVar("D", bound=_Dated)


def drop_old(entries: dict[Key, D], since: float) -> None:
    """Drop from the front what is older than ``since``, and all but the newest thousand."""
    while len(entries) > KEPT_COUNT or next(iter(entries.values())).at < since:
        del entries[next(iter(entries))]


@dataclass
class _Entry(Generic[T]):
    digest: str | None
    result: T | None
    """None: canceled before it began."""
    at: float
    """Time of the last request for the call."""


class CallTable(Generic[T]):
    """Results of recent tool calls. ``now`` is seconds on one monotonic clock."""

    def __init__(self, kept_seconds: float = KEPT_SECONDS) -> None:
        self._kept_seconds = kept_seconds
        self._entries: dict[Key, _Entry[T]] = {}

    def run(self, key: Key, digest: str, now: float, begin: Callable[[], T]) -> tuple[T, bool]:
        """Return the call's result, and True if ``begin`` was called for it just now.

        Raises:
            CallRefused: If the id was used for another input, or the call was canceled before.
        """
        entry = self._touch(key, now)
        if entry is None:
            result = begin()
            self._add(key, _Entry(digest, result, now))
            return result, True
        if entry.result is None:
            raise CallRefused("tool_call_canceled", "The tool call was canceled before it began.")
        if entry.digest != digest:
            raise CallRefused.mismatch()
        return entry.result, False

    def cancel(self, key: Key, now: float) -> T | None:
        """Keep the call from ever beginning, or return the result of one that has begun."""
        entry = self._touch(key, now)
        if entry is None:
            entry = self._add(key, _Entry(None, None, now))
        return entry.result

    def knows(self, key: Key, now: float) -> bool:
        """Return True if the table still holds the call."""
        entry = self._entries.get(key)
        return entry is not None and now - entry.at <= self._kept_seconds

    def forget(self, key: Key, result: T) -> None:
        """Remove the call if ``result`` is still what the table holds for it."""
        entry = self._entries.get(key)
        if entry is not None and entry.result is result:
            del self._entries[key]

    def _touch(self, key: Key, now: float) -> _Entry[T] | None:
        # Popping and adding again keeps the order of use that `_add` relies on.
        entry = self._entries.pop(key, None)
        if entry is None or now - entry.at > self._kept_seconds:
            return None
        entry.at = now
        self._entries[key] = entry
        return entry

    def _add(self, key: Key, entry: _Entry[T]) -> _Entry[T]:
        # The dict is in order of use, so expired entries are in front.
        self._entries[key] = entry
        drop_old(self._entries, entry.at - self._kept_seconds)
        return entry
