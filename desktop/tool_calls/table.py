"""Run a tool call once, however often its request arrives.

An answer that got lost on the way leaves the caller in doubt; with an id it simply asks again.
An entry is kept for an hour after it was last asked for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from .errors import CallRefused

KEPT_SECONDS = 3600.0
KEPT_COUNT = 1000

T = TypeVar("T")
Key = tuple[str, str]
"""Chat and tool-call id: another chat's id of the same text is another call."""


@dataclass
class _Entry(Generic[T]):
    digest: str | None
    result: T | None
    """None: canceled before it began."""
    touched: float


class CallTable(Generic[T]):
    """What became of recent tool calls. ``now`` is seconds on one monotonic clock."""

    def __init__(self) -> None:
        self._entries: dict[Key, _Entry[T]] = {}

    def run(self, key: Key, digest: str, now: float, begin: Callable[[], T]) -> tuple[T, bool]:
        """Return the call's result and whether ``begin`` was called for it just now.

        Raises:
            CallRefused: If the id was used for another input, or the call was canceled before.
        """
        entry = self._touch(key, now)
        if entry is None:
            result = begin()
            self._entries[key] = _Entry(digest, result, now)
            self._shrink(now)
            return result, True
        if entry.result is None:
            raise CallRefused("tool_call_canceled", "The tool call was canceled before it began.")
        if entry.digest != digest:
            raise CallRefused(
                "input_mismatch", "The tool call's id was used before with different input."
            )
        return entry.result, False

    def cancel(self, key: Key, now: float) -> T | None:
        """Let the call never begin, or return the result of one that has."""
        entry = self._touch(key, now)
        if entry is None:
            self._entries[key] = entry = _Entry(None, None, now)
            self._shrink(now)
        return entry.result

    def knows(self, key: Key, now: float) -> bool:
        """Whether the call was seen within the hour."""
        entry = self._entries.get(key)
        return entry is not None and now - entry.touched <= KEPT_SECONDS

    def _touch(self, key: Key, now: float) -> _Entry[T] | None:
        entry = self._entries.pop(key, None)
        if entry is None or now - entry.touched > KEPT_SECONDS:
            return None
        entry.touched = now
        self._entries[key] = entry
        return entry

    def _shrink(self, now: float) -> None:
        # The dict is in order of use: what is too old stands in front, the newest stays.
        oldest = next(iter(self._entries))
        while len(self._entries) > KEPT_COUNT or now - self._entries[oldest].touched > KEPT_SECONDS:
            del self._entries[oldest]
            oldest = next(iter(self._entries))
